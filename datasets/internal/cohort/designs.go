package cohort

var ageBands = []string{"18-44", "45-54", "55-64", "65-74", "75-84", "85-89"}

func (p *patient) ageBand() int {
	return scale{{45, 0}, {55, 1}, {65, 2}, {75, 3}, {85, 4}, {above, 5}}.of(p.age)
}

func (p *patient) sex() int { return one(!p.female) }

var (
	sexes      = []string{"female", "male"}
	admissions = []string{"medical", "scheduled-surgical", "unscheduled-surgical"}
)

// mortality is the first cohort: a mixed unit, six scores and values, five demographic categories.
var mortality = design{
	name: "icu-mortality", rows: 2085, positives: 131,
	population: population{severity: -.1, surgical: -1},
	columns: []column{
		integer("sapsii", (*patient).sapsII),
		integer("sofa", (*patient).sofa),
		integer("oasis", (*patient).oasis),
		integer("gcs", (*patient).gcs),
		tenths("lactate", func(p *patient) int { return p.lactate }).missing(
			func(p *patient) bool { return p.lactateTaken }),
		tenths("creatinine", func(p *patient) int { return p.creatinine }),
		category("sex", sexes, (*patient).sex),
		category("age_band", ageBands, (*patient).ageBand),
		category("ethnicity", ethnicities, func(p *patient) int { return p.ethnicity }),
		category("insurance", insurances, func(p *patient) int { return p.insurance }),
		category("marital_status", maritalStatuses, func(p *patient) int { return p.marital }),
	},
	outcome: "mortality",
	// Insurance and marital status have a small effect of their own; ethnicity and sex have none.
	risk: func(p *patient) float64 {
		return .035*float64(p.sapsII()) + .080*float64(p.sofa()) + .02*float64(p.oasis()) +
			.85*ln(p.lactate, 10) + .010*float64(p.age) + []float64{0, -.15, .1, 0, .5}[p.insurance] +
			[]float64{-.1, .1, .2, 0, 0}[p.marital]
	},
}

// severity is the second cohort: an emergency unit, thirty-one scores and two categories. Four
// identities hold in every row, a missing item counting 0: gcs and sofa are the sums of their
// parts, sofa_cns follows from gcs, and apache_ii is the sum of its items and 15 - gcs.
var severity = design{
	name: "icu-severity", rows: 2119, positives: 496,
	population: population{severity: .9, surgical: -2},
	columns: []column{
		integer("gcs_eye", func(p *patient) int { return p.eye }),
		integer("gcs_verbal", func(p *patient) int { return p.verbal }),
		integer("gcs_motor", func(p *patient) int { return p.motor }),
		integer("gcs", (*patient).gcs),
		integer("sofa_respiration", (*patient).sofaRespiration),
		integer("sofa_coagulation", func(p *patient) int { return sofaCoagulation.of(p.platelets) }),
		integer("sofa_liver",
			(*patient).sofaLiver).missing(func(p *patient) bool { return p.bilirubinTaken }),
		integer("sofa_cardiovascular", (*patient).sofaCardiovascular),
		integer("sofa_cns", func(p *patient) int { return sofaCNS.of(p.gcs()) }),
		integer("sofa_renal", (*patient).sofaRenal),
		integer("sofa", (*patient).sofa),
		integer("apache_temperature", func(p *patient) int {
			return apacheTemperature.of(p.temperature)
		}),
		integer("apache_mean_bp", func(p *patient) int { return apacheMeanBP.of(p.meanBP) }),
		integer("apache_heart_rate", func(p *patient) int { return apacheHeartRate.of(p.heartRate) }),
		integer("apache_resp_rate", func(p *patient) int { return apacheRespRate.of(p.respRate) }),
		integer("apache_oxygenation",
			(*patient).apacheOxygenation).missing(func(p *patient) bool { return p.gasTaken }),
		integer("apache_ph", func(p *patient) int { return apachePH.of(p.ph) }).missing(
			func(p *patient) bool { return p.gasTaken }),
		integer("apache_sodium", func(p *patient) int { return apacheSodium.of(p.sodium) }),
		integer("apache_potassium", func(p *patient) int { return apachePotassium.of(p.potassium) }),
		integer("apache_creatinine", func(p *patient) int { return apacheCreatinine.of(p.creatinine) }),
		integer("apache_haematocrit", func(p *patient) int {
			return apacheHaematocrit.of(p.haematocrit)
		}),
		integer("apache_white_cells", func(p *patient) int { return apacheWhiteCells.of(p.whiteCells) }),
		integer("apache_age", func(p *patient) int { return apacheAge.of(p.age) }),
		integer("apache_chronic", (*patient).apacheChronic),
		integer("apache_ii", (*patient).apacheII),
		integer("sapsii", (*patient).sapsII),
		integer("oasis", (*patient).oasis),
		integer("lods", (*patient).lods),
		integer("sirs", (*patient).sirs),
		integer("qsofa", (*patient).qsofa),
		integer("charlson", func(p *patient) int { return p.charlson }),
		category("sex", sexes, (*patient).sex),
		category("admission_type", admissions, func(p *patient) int { return p.admission }),
	},
	outcome: "mortality",
	risk: func(p *patient) float64 {
		return .030*float64(p.sapsII()) + .035*float64(p.apacheII()) + .05*float64(p.lods()) +
			.08*float64(p.charlson) + .15*float64(p.sofaLiver())
	},
}

// readmission is the third cohort: what is charted on the last day in the unit, of patients well
// enough to leave it.
var readmission = design{
	name: "icu-readmission", rows: 1719, positives: 52,
	population: population{severity: -.6, surgical: -.5},
	columns: []column{
		integer("heart_rate", func(p *patient) int { return p.heartRate }),
		integer("resp_rate", func(p *patient) int { return p.respRate }),
		integer("systolic_bp", func(p *patient) int { return p.systolicBP }),
		tenths("haemoglobin", func(p *patient) int { return p.haemoglobin }),
		integer("urea_nitrogen", func(p *patient) int { return p.bun }),
		integer("glucose", func(p *patient) int { return p.glucose }).missing(
			func(p *patient) bool { return p.glucoseTaken }),
	},
	outcome: "readmission",
	risk: func(p *patient) float64 {
		return .025*float64(p.heartRate) + .07*float64(p.respRate) - .012*float64(p.systolicBP) -
			.018*float64(p.haemoglobin) +
			.6*ln(p.bun, 1) + .4*ln(p.glucose, 100)
	},
}
