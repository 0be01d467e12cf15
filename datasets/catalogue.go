package datasets

const unstated = "none stated at the origin; UCI lists the set as CC BY 4.0"

// catalogue are the public tables, with schemas in catalogue/NAME.yaml.
var catalogue = []Dataset{
	{
		Name: "acs_ma2019", Title: "American Community Survey, Massachusetts 2019, NIST excerpt",
		Description: "Persons in five areas: household, work, income, disability. The label is a " +
			"difficulty in walking; it is missing for " +
			"small children. The survey weights PWGTP and WGTP are no predictors.",
		Rows: 7634, Label: "DPHY", Positive: "1", Rate: .06,
		Origin: "https://github.com/usnistgov/SDNist commit ecca7ce, " +
			"BenchmarkData/ACSDataExcerpts/*/ma2019.csv (later commits hold pointers only)",
		Licence:           "public-domain style notice of NIST; source US Census ACS PUMS",
		SHA256:            "5489f7d45bccad8ae591dfe9011638def521b3f8641edf169bb45fea2c62fb44",
		DropForPrediction: []string{"PWGTP", "WGTP"},
	},
	{
		Name: "adult", Title: "UCI Adult, the 1994 census",
		Description: "Age, education, work, family and capital of 48,842 adults; the label is an " +
			"income above 50,000 dollars.",
		Rows: 48842, Label: "income", Positive: ">50K", Rate: .2393,
		Origin: "https://github.com/ryan112358/hd-datasets raw/adult/adult.data (32,561 rows), then " +
			"adult.test (16,281 rows)",
		Licence: unstated,
		SHA256:  "6f8f2babc5ee744afd03f6d978d8d6b3e3b0aae240d931c4976a9cce7af0d347",
	},
	{
		Name: "bank", Title: "UCI Bank Marketing",
		Description: "Telephone calls of a Portuguese bank; the label is whether the client took the " +
			"deposit.",
		Rows: 45211, Label: "y", Positive: "yes", Rate: .117,
		Origin: "https://github.com/radi-cho/GatedTabTransformer data/bank-full.csv (columns in " +
			"another order than UCI's)",
		Licence: unstated + " (the repository is MIT)",
		SHA256:  "868a9c450492e81295fe8e12db3af278533db7818f905d398fc24f0814d4f609",
	},
	{
		Name: "cervical", Title: "UCI Cervical Cancer Risk Factors, Caracas",
		Description: "Habits, history and four tests of 858 women, many cells missing; the label is " +
			"the biopsy. The three other tests give it away.",
		Rows: 858, Label: "Biopsy", Positive: "1", Rate: .0641,
		Origin: "https://github.com/denisect/cervical_cancer_dataset " +
			"risk_factors_cervical_cancer.csv",
		Licence:           unstated,
		SHA256:            "0a5bbf7fd7ab8317237bd739356dc3565bad231d629ac132bbf50aed3dcc2331",
		DropForPrediction: []string{"Hinselmann", "Schiller", "Cytology"},
	},
	{
		Name: "creditcard_sub", Title: "Card payments of two days in 2013, thinned",
		Description: "473 fraudulent and 8,840 other payments, 28 principal components, time and amount.",
		Rows:        9313, Label: "Class", Positive: "1", Rate: .0508,
		Origin: "union without duplicates of " +
			"https://github.com/jaehyeongAN/Credit-Card-Fraud-Detection data/creditcard_sample.csv, " +
			"https://github.com/drhuazhao/fraud-detection-project creditcard_sample.csv and " +
			"https://github.com/Rajmayank90/Credit-Card-Detection-Project creditcard_small.csv",
		Licence: "ODbL/DbCL 1.0 (Kaggle mlg-ulb)",
		SHA256:  "1557d2a3974503b86fc507414b5c73608d0228b327a1c85e693fd845965c20a8",
	},
	{
		Name: "heart_cleveland", Title: "UCI Heart Disease, Cleveland",
		Description: "Fourteen findings in 303 patients; the label is any narrowing of the coronary " +
			"arteries.",
		Rows: 303, Label: "disease", Positive: "1", Rate: .4587,
		Origin: "https://github.com/rashmikulkarni0705/CDSS-for-Heart-Disease " +
			"db/processed.cleveland.data (num > 0 made 1)",
		Licence: unstated,
		SHA256:  "d3fa4828a3960dc22dd7551a49e48828af4275214f5d4b4f75eaf2e64042b41d",
	},
	{
		Name: "mammography", Title: "Mammography calcifications",
		Description: "Six standardised features of 11,183 candidates; the label is a true " +
			"calcification, 1 in 43.",
		Rows: 11183, Label: "outlier", Positive: "1", Rate: .0232,
		Origin:  "https://github.com/Minqi824/ADBench adbench/datasets/Classical/23_mammography.npz",
		Licence: "the repository is BSD-2; the rows come from ODDS and UCI, none stated",
		SHA256:  "a4323ef44ef6f03736f81cbac998549f631f44dc83119f5b1fb7351f73a6c824",
	},
	{
		Name: "support2", Title: "SUPPORT2, seriously ill adults in five American hospitals",
		Description: "Diagnosis, physiology on the third day, cost and course of 9,105 patients, " +
			"1989–1994; the label is death in hospital. What is only known later, and the predictions of " +
			"doctors and of the study's own model, are to be dropped.",
		Rows: 9105, Label: "hospdead", Positive: "1", Rate: .2592,
		Origin: "https://github.com/NoraZhouXX/1030-Final-Project-SUPPORT2 data/support2.csv (Index " +
			"dropped)",
		Licence: unstated + " (the repository is MIT)",
		SHA256:  "e02742ee083be6b641f6096df838e2e47d96fd47a1e6b1476fb06515ed3f4a05",
		DropForPrediction: []string{"death", "slos", "d.time", "sfdm2", "dnr", "dnrday", "surv2m",
			"surv6m", "prg2m", "prg6m", "charges", "totcst", "totmcst", "hday"},
	},
}
