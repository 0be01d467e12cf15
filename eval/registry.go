package eval

// Metric describes a metric for reports.
type Metric struct {
	Name    string // the house name
	Alias   string // what other tools call it
	Range   string
	Goal    string // the value to hope for
	Meaning string // one sentence
}

// Metrics lists every metric of the package, in the order of a report: whether the table is well
// formed, whether it looks like the real one, whether it is useful, whether it is private. The
// definition and source of each are in the documentation of the function of its name.
func Metrics() []Metric {
	return []Metric{
		{"Validity", "DataValidity, BoundaryAdherence, CategoryAdherence (SDMetrics)", "0 to 1",
			"1",
			"Share of rows all of whose cells the public schema allows."},
		{"MovedShare", "1 less BoundaryAdherence, CategoryAdherence (SDMetrics) of real rows",
			"0 to 1", "0",
			"Share of the real cells of a column that the schema moves: to a bound, into another " +
				"category, to missing."},
		{"UncoveredShare", "RangeCoverage, CategoryCoverage (SDMetrics)", "0 to 1",
			"that of a holdout",
			"Share of the real cells of a column beyond the least and the greatest synthetic " +
				"number, or of a category that the synthetic table does not have."},
		{"MeanShift", "standardized mean difference, StatisticSimilarity (SDMetrics)",
			"any number", "0",
			"Synthetic mean less the real one, in real standard deviations."},
		{"SpreadRatio", "none; variance ratio is its square", "0 up", "1",
			"Synthetic standard deviation over the real one."},
		{"Wasserstein", "wasserstein_dist (synthcity), earth mover's distance", "0 up",
			"that of a holdout",
			"Mean distance between the real and the synthetic quantiles, in real standard " +
				"deviations."},
		{"KSComplement", "KSComplement (SDMetrics)", "0 to 1", "1",
			"One minus the largest gap between the real and the synthetic cumulative " +
				"distribution of a numeric column."},
		{"TVComplement", "TVComplement (SDMetrics)", "0 to 1", "1",
			"One minus half the summed differences between the real and the synthetic shares " +
				"of a column's values."},
		{"MissingSimilarity", "MissingValueSimilarity (SDMetrics)", "0 to 1", "1",
			"One minus the difference between the real and the synthetic share of missing cells " +
				"of a column."},
		{"ColumnShapes", "Column Shapes (SDMetrics quality report)", "0 to 1", "1",
			"Mean over all columns of KSComplement (numbers) or TVComplement (categories)."},
		{"CorrelationSimilarity", "CorrelationSimilarity (SDMetrics)", "0 to 1", "1",
			"One minus half the difference between the real and the synthetic correlation of two " +
				"numeric columns."},
		{"ContingencySimilarity", "ContingencySimilarity (SDMetrics)", "0 to 1", "1",
			"One minus the total variation distance between the real and the synthetic joint " +
				"distribution of two columns."},
		{"ColumnPairTrends", "Column Pair Trends (SDMetrics quality report)", "0 to 1", "1",
			"Mean over all pairs of columns of CorrelationSimilarity (two numbers) or " +
				"ContingencySimilarity (all others)."},
		{"AssociationKept", "none; CorrelationSimilarity (SDMetrics) is over all pairs",
			"up to 1", "1",
			"Share of the strength of the associated pairs that survives, beyond what two real " +
				"tables differ by."},
		{"MarginalError", "workload error (private-pgm); k-marginal (SDNist) is 1000 times 1 less it",
			"0 to 1", "0",
			"Mean total variation distance between the real and the synthetic joint " +
				"distributions of all sets of k columns."},
		{"PMSE", "pMSE, propensity score (synthpop, SDNist)", "0 to .25",
			"0; a ratio to its expectation of 1 to 2",
			"How well a logistic regression tells synthetic rows from real ones, as mean squared " +
				"excess over guessing."},
		{"RareClassRate", "none; outcome rate, prevalence", "0 to 1",
			"the rates of the training table and the holdout",
			"Share of rows of one class with a confidence interval, to see whether a rare class " +
				"survived."},
		{"AUROC", "roc_auc_score (scikit-learn), roc_auc (synthcity)", "0 to 1",
			"that of a model trained on real rows",
			"Probability that a classifier scores a random positive row above a random negative " +
				"one."},
		{"AveragePrecision", "average_precision_score (scikit-learn), PR-AUC", "0 to 1",
			"that of a model trained on real rows",
			"Precision averaged over the recalls of a classifier, which a rare class does not " +
				"flatter."},
		{"TSTR", "train-synthetic-test-real, ML efficacy (SDMetrics)", "0 to 1", "TRTR's value",
			"AUROC on real holdout rows of a classifier trained on synthetic rows."},
		{"TRTR", "train-real-test-real", "0 to 1", "none: the yardstick of TSTR",
			"AUROC on real holdout rows of the same classifier trained on real rows."},
		{"NNAA", "nnaa (SynthEval), AdversarialAccuracy", "0 to 1", ".5",
			"How often rows are nearer to their own table than to the other: below one half the " +
				"synthetic rows crowd around real ones, above it they differ."},
		{"PrivacyLoss", "priv_loss_nnaa (SynthEval)", "-1 to 1", "0 or below",
			"NNAA against a holdout minus NNAA against the training table: how much closer " +
				"synthetic rows keep to the rows they were made from."},
		{"DCR", "DCR (MOSTLY AI, SynthEval)", "0 up", "that of a holdout",
			"Distance of synthetic rows to the closest training row, beside the closest of as " +
				"many holdout rows."},
		{"NNDR", "NNDR (MOSTLY AI, SynthEval)", "0 to 1", "that of a holdout",
			"Distance to the closest over distance to the second closest real row: small where a " +
				"synthetic row hangs on one outlier."},
		{"DCRShare", "DCR share (MOSTLY AI); DCROverfittingProtection (SDMetrics) is twice 1 less it",
			"0 to 1", ".5",
			"Share of synthetic rows closer to a training row than to any of as many holdout " +
				"rows."},
		{"IdenticalMatchShare",
			"IMS (MOSTLY AI), exact_match (SynthEval), 1 less NewRowSynthesis (SDMetrics)", "0 to 1",
			"at most that of a holdout",
			"Share of synthetic rows that equal a training row in every code."},
		{"UniqueExactMatches", "Unique Exact Matches (SDNist)", "0 to 1", "0",
			"Share of real rows that are unlike all others and occur in the synthetic table."},
		{"KAnonymity", "k-anonymization (synthcity), k-anonymity", "1 up",
			"none for synthetic rows; describes the real table",
			"Rows of the smallest group that share their quasi-identifiers."},
		{"LinkageRisk", "identity disclosure risk (El Emam), linkability (anonymeter)", "0 to 1",
			"at most that of a holdout",
			"Expected share of real people that someone who knows their quasi-identifiers links " +
				"to a synthetic row correctly."},
		{"AttributeInference", "attribute inference risk (anonymeter)", "0 to 1",
			"at most that of a holdout",
			"Share of real people of whom someone who knows all cells but one guesses that one, " +
				"from the nearest synthetic row."},
	}
}
