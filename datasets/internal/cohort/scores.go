package cohort

import "math"

// A scale is a published point table: a value scores the points of the first band whose limit it is
// below. The limits are in the units of [patient].
type scale []band

type band struct{ below, points int }

const above = math.MaxInt

func (s scale) of(x int) int {
	for _, b := range s {
		if x < b.below {
			return b.points
		}
	}
	panic("cohort: a scale without a last band")
}

// APACHE II: Knaus, Draper, Wagner, Zimmerman, Crit Care Med 13 (1985) 818. The doubling of the
// creatinine points in acute renal failure is left out, so that each physiological item stays
// within 0–4.
var (
	apacheTemperature = scale{{300, 4}, {320, 3}, {340, 2}, {360, 1}, {385, 0}, {390, 1}, {410, 3},
		{above, 4}}
	apacheMeanBP    = scale{{50, 4}, {70, 2}, {110, 0}, {130, 2}, {160, 3}, {above, 4}}
	apacheHeartRate = scale{{40, 4}, {55, 3}, {70, 2}, {110, 0}, {140, 2}, {180, 3}, {above, 4}}
	apacheRespRate  = scale{{6, 4}, {10, 2}, {12, 1}, {25, 0}, {35, 1}, {50, 3}, {above, 4}}
	// alveolar-arterial, mmHg, when FiO2 ≥ 50 %
	apacheGradient = scale{{200, 0}, {350, 2}, {500, 3}, {above, 4}}
	apachePaO2     = scale{{55, 4}, {61, 3}, {71, 1}, {above, 0}} // mmHg, when FiO2 < 50 %
	apachePH       = scale{{715, 4}, {725, 3}, {733, 2}, {750, 0}, {760, 1}, {770, 3}, {above, 4}}
	apacheSodium   = scale{{111, 4}, {120, 3}, {130, 2}, {150, 0}, {155, 1}, {160, 2}, {180, 3},
		{above, 4}}
	apachePotassium   = scale{{25, 4}, {30, 2}, {35, 1}, {55, 0}, {60, 1}, {70, 3}, {above, 4}}
	apacheCreatinine  = scale{{6, 2}, {15, 0}, {20, 2}, {35, 3}, {above, 4}}
	apacheHaematocrit = scale{{20, 4}, {30, 2}, {46, 0}, {50, 1}, {60, 2}, {above, 4}}
	apacheWhiteCells  = scale{{10, 4}, {30, 2}, {150, 0}, {200, 1}, {400, 2}, {above, 4}}
	apacheAge         = scale{{45, 0}, {55, 2}, {65, 3}, {75, 5}, {above, 6}}
)

func (p *patient) apacheOxygenation() int {
	pao2 := p.pao2fio2 * p.fio2 / 100
	if p.fio2 < 50 {
		return apachePaO2.of(pao2)
	}
	// 713 = 760 - 47 of water vapour; 50 = PaCO2 40 / 0.8
	return apacheGradient.of(713*p.fio2/100 - 50 - pao2)
}

func (p *patient) apacheChronic() int {
	switch {
	case !p.metastatic && !p.haematologic && !p.aids && !p.organFailure:
		return 0
	case p.admission == scheduledSurgical:
		return 2
	}
	return 5
}

// apacheII counts 0, as in practice, for oxygenation and pH when no blood gas was taken.
func (p *patient) apacheII() int {
	n := apacheTemperature.of(p.temperature) + apacheMeanBP.of(p.meanBP) + apacheHeartRate.of(
		p.heartRate) + apacheRespRate.of(p.respRate) +
		apacheSodium.of(p.sodium) + apachePotassium.of(p.potassium) + apacheCreatinine.of(p.creatinine) +
		apacheHaematocrit.of(p.haematocrit) + apacheWhiteCells.of(p.whiteCells) + 15 - p.gcs() +
		apacheAge.of(p.age) + p.apacheChronic()
	if p.gasTaken {
		n += p.apacheOxygenation() + apachePH.of(p.ph)
	}
	return n
}

// SOFA: Vincent et al., Intensive Care Med 22 (1996) 707.
var (
	sofaCoagulation = scale{{20, 4}, {50, 3}, {100, 2}, {150, 1}, {above, 0}}
	sofaLiver       = scale{{12, 0}, {20, 1}, {60, 2}, {120, 3}, {above, 4}}
	sofaCNS         = scale{{6, 4}, {10, 3}, {13, 2}, {15, 1}, {above, 0}}
	sofaCreatinine  = scale{{12, 0}, {20, 1}, {35, 2}, {50, 3}, {above, 4}}
	sofaUrine       = scale{{200, 4}, {500, 3}, {above, 0}}
	sofaLung        = scale{{100, 4}, {200, 3}, {300, 2}, {400, 1}, {above, 0}}
)

func (p *patient) sofaRespiration() int {
	if !p.ventilated {
		return min(sofaLung.of(p.pao2fio2), 2)
	}
	return sofaLung.of(p.pao2fio2)
}

func (p *patient) sofaCardiovascular() int {
	if p.pressors > 0 {
		return 1 + p.pressors
	}
	return one(p.meanBP < 70)
}

func (p *patient) sofaRenal() int {
	return max(sofaCreatinine.of(p.creatinine), sofaUrine.of(p.urine))
}

func (p *patient) sofa() int {
	return p.sofaRespiration() + sofaCoagulation.of(p.platelets) + p.sofaLiver() +
		p.sofaCardiovascular() + sofaCNS.of(p.gcs()) + p.sofaRenal()
}

// sofaLiver is 0, as in practice, when bilirubin was not measured.
func (p *patient) sofaLiver() int {
	if !p.bilirubinTaken {
		return 0
	}
	return sofaLiver.of(p.bilirubin)
}

// SAPS II: Le Gall, Lemeshow, Saulnier, JAMA 270 (1993) 2957.
var (
	sapsAge         = scale{{40, 0}, {60, 7}, {70, 12}, {75, 15}, {80, 16}, {above, 18}}
	sapsHeartRate   = scale{{40, 11}, {70, 2}, {120, 0}, {160, 4}, {above, 7}}
	sapsSystolicBP  = scale{{70, 13}, {100, 5}, {200, 0}, {above, 2}}
	sapsTemperature = scale{{390, 0}, {above, 3}}
	sapsLung        = scale{{100, 11}, {200, 9}, {above, 6}} // ventilated only
	sapsUrine       = scale{{500, 11}, {1000, 4}, {above, 0}}
	sapsBUN         = scale{{28, 0}, {84, 6}, {above, 10}}
	sapsWhiteCells  = scale{{10, 12}, {200, 0}, {above, 3}}
	sapsPotassium   = scale{{30, 3}, {50, 0}, {above, 3}}
	sapsSodium      = scale{{125, 5}, {145, 0}, {above, 1}}
	sapsBicarbonate = scale{{15, 6}, {20, 3}, {above, 0}}
	sapsBilirubin   = scale{{40, 0}, {60, 4}, {above, 9}}
	sapsGCS         = scale{{6, 26}, {9, 13}, {11, 7}, {14, 5}, {above, 0}}
	sapsAdmission   = [...]int{medical: 6, scheduledSurgical: 0, unscheduledSurgical: 8}
)

func (p *patient) sapsII() int {
	n := sapsAge.of(p.age) + sapsHeartRate.of(p.heartRate) + sapsSystolicBP.of(p.systolicBP) +
		sapsTemperature.of(p.temperature) + sapsUrine.of(p.urine) + sapsBUN.of(p.bun) +
		sapsWhiteCells.of(p.whiteCells) + sapsPotassium.of(p.potassium) + sapsSodium.of(p.sodium) +
		sapsBicarbonate.of(p.bicarbonate) + sapsGCS.of(p.gcs()) + sapsAdmission[p.admission]
	if p.ventilated {
		n += sapsLung.of(p.pao2fio2)
	}
	if p.bilirubinTaken {
		n += sapsBilirubin.of(p.bilirubin)
	}
	switch {
	case p.aids:
		n += 17
	case p.haematologic:
		n += 10
	case p.metastatic:
		n += 9
	}
	return n
}

// OASIS: Johnson, Kramer, Clifford, Crit Care Med 41 (2013) 1711.
var (
	oasisHours       = scale{{1, 5}, {5, 3}, {25, 0}, {312, 2}, {above, 1}}
	oasisAge         = scale{{24, 0}, {54, 3}, {78, 6}, {90, 9}, {above, 7}}
	oasisGCS         = scale{{8, 10}, {14, 4}, {15, 3}, {above, 0}}
	oasisHeartRate   = scale{{33, 4}, {89, 0}, {107, 1}, {126, 3}, {above, 6}}
	oasisMeanBP      = scale{{21, 4}, {51, 3}, {62, 2}, {144, 0}, {above, 3}}
	oasisRespRate    = scale{{6, 10}, {13, 1}, {23, 0}, {31, 1}, {45, 6}, {above, 9}}
	oasisTemperature = scale{{333, 3}, {360, 4}, {364, 2}, {369, 0}, {399, 2}, {above, 6}}
	oasisUrine       = scale{{671, 10}, {1427, 5}, {2545, 1}, {6897, 0}, {above, 8}}
)

func (p *patient) oasis() int {
	return oasisHours.of(p.hoursBefore) + oasisAge.of(p.age) + oasisGCS.of(p.gcs()) +
		oasisHeartRate.of(p.heartRate) + oasisMeanBP.of(p.meanBP) + oasisRespRate.of(p.respRate) +
		oasisTemperature.of(p.temperature) + oasisUrine.of(p.urine) + 9*one(p.ventilated) +
		6*one(p.admission != scheduledSurgical)
}

// LODS: Le Gall et al., JAMA 276 (1996) 802, without the prothrombin time.
var (
	lodsGCS        = scale{{6, 5}, {9, 3}, {14, 1}, {above, 0}}
	lodsSystolicBP = scale{{40, 5}, {70, 3}, {90, 1}, {240, 0}, {270, 1}, {above, 3}}
	lodsHeartRate  = scale{{30, 5}, {140, 0}, {above, 1}}
	lodsUrine      = scale{{500, 5}, {750, 3}, {10000, 0}, {above, 3}}
	lodsBUN        = scale{{17, 0}, {28, 1}, {56, 3}, {above, 5}}
	lodsCreatinine = scale{{12, 0}, {16, 1}, {above, 3}}
	lodsLung       = scale{{150, 3}, {above, 1}} // ventilated only
	lodsWhiteCells = scale{{10, 3}, {25, 1}, {500, 0}, {above, 1}}
)

func (p *patient) lods() int {
	n := lodsGCS.of(p.gcs()) + max(lodsSystolicBP.of(p.systolicBP), lodsHeartRate.of(p.heartRate)) +
		max(lodsUrine.of(p.urine), lodsBUN.of(p.bun), lodsCreatinine.of(p.creatinine)) +
		max(lodsWhiteCells.of(p.whiteCells), one(p.platelets < 50))
	if p.ventilated {
		n += lodsLung.of(p.pao2fio2)
	}
	return n + one(p.bilirubinTaken && p.bilirubin >= 20)
}

// sirs counts the criteria of Bone et al., Chest 101 (1992) 1644.
func (p *patient) sirs() int {
	return one(p.temperature > 380 || p.temperature < 360) + one(p.heartRate > 90) +
		one(p.respRate > 20) + one(p.whiteCells > 120 || p.whiteCells < 40)
}

// qsofa counts the criteria of Seymour et al., JAMA 315 (2016) 762.
func (p *patient) qsofa() int {
	return one(p.respRate >= 22) + one(p.systolicBP <= 100) + one(p.gcs() < 15)
}
