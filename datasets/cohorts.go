package datasets

import "slices"

// all is what Names and Get know.
var all = slices.Concat(cohorts, catalogue)

const (
	simulated = "simulated, as package datasets describes; no row comes from a patient"
	own       = "Apache-2.0, as the rest of this module"
)

// cohorts are the embedded tables, in cohorts/NAME.csv.
var cohorts = []Dataset{
	{
		Name: "icu-mortality", Title: "Simulated intensive care: six scores and values, five " +
			"demographic categories, mortality",
		Description: "2085 simulated stays in a mixed unit. SAPS II, SOFA, OASIS, Glasgow coma scale, " +
			"lactate (missing in a third, more often in the less ill) and creatinine; sex, age band, " +
			"ethnicity, insurance and marital status; death in hospital.",
		Rows: 2085, Label: "mortality", Positive: "1", Rate: .0628,
		Embedded: true, Origin: simulated, Licence: own,
		SHA256: "af953633705e3609a054556483f75bcd1464b5184279440c74807778aa1f1887",
	},
	{
		Name: "icu-readmission", Title: "Simulated intensive care: six values of the last day, " +
			"readmission",
		Description: "1719 simulated stays of patients well enough to leave the unit. Heart rate, " +
			"respiratory rate, systolic pressure, " +
			"haemoglobin, urea nitrogen and glucose on the last day; readmission to the unit.",
		Rows: 1719, Label: "readmission", Positive: "1", Rate: .0303,
		Embedded: true, Origin: simulated, Licence: own,
		SHA256: "5861d4ef3995ab46224b098da38181395f83314ff5f8d1d1043857fb90f33a69",
	},
	{
		Name: "icu-severity", Title: "Simulated intensive care: thirty-one severity scores, two " +
			"categories, mortality",
		Description: "2119 simulated stays in an emergency unit. The Glasgow coma scale, SOFA and " +
			"APACHE II with their parts, SAPS II, OASIS, LODS, SIRS, qSOFA and the Charlson index; sex " +
			"and type of admission; death in hospital. Totals are the sums of their parts.",
		Rows: 2119, Label: "mortality", Positive: "1", Rate: .2341,
		Embedded: true, Origin: simulated, Licence: own,
		SHA256: "cf2fff37160dc9f9e6f00d01dbac67637dc2f57d92cf9a9cdc02d35e8ef73f50",
	},
}
