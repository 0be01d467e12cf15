package cohort

import "math"

// Admission types, as SAPS II tells them apart.
const (
	medical = iota
	scheduledSurgical
	unscheduledSurgical
)

// A patient is one simulated stay. Every measurement is a whole number of the unit in which it is
// charted, so that all that follows from it, the scores above all, is integer arithmetic.
type patient struct {
	age       int // years, 18–89
	female    bool
	ethnicity int // index into ethnicities, the last being "unknown"
	insurance int // index into insurances
	marital   int // index into maritalStatuses, the last being "unknown"
	admission int // medical, scheduledSurgical, unscheduledSurgical

	metastatic, haematologic, aids, organFailure bool // chronic
	charlson                                     int  // comorbidity index, 0–15

	heartRate   int // beats a minute
	meanBP      int // mmHg
	systolicBP  int // mmHg
	respRate    int // breaths a minute
	temperature int // 0.1 °C
	eye         int // Glasgow coma scale 1–4
	verbal      int // 1–5
	motor       int // 1–6
	ventilated  bool
	pressors    int // 0 none, 1 low, 2 medium, 3 high dose
	fio2        int // inspired oxygen, percent, 21–100
	pao2fio2    int // mmHg
	ph          int // 0.01
	bicarbonate int // mmol/L
	lactate     int // 0.1 mmol/L
	sodium      int // mmol/L
	potassium   int // 0.1 mmol/L
	creatinine  int // 0.1 mg/dL
	bun         int // mg/dL
	urine       int // mL a day
	bilirubin   int // 0.1 mg/dL
	platelets   int // 10⁹/L
	whiteCells  int // 0.1 × 10⁹/L
	haematocrit int // percent
	haemoglobin int // 0.1 g/dL
	glucose     int // mg/dL
	hoursBefore int // in hospital before the unit

	// measured at all: sicker patients are measured more
	gasTaken, lactateTaken, bilirubinTaken, glucoseTaken bool
}

func (p *patient) gcs() int { return p.eye + p.verbal + p.motor }

// population says where a cohort sits: the mean of the severity factor and of the surgical share.
type population struct {
	severity float64 // mean of s for a medical patient of 64 years without comorbidity
	surgical float64 // log odds of a scheduled operation against a medical admission
}

var (
	ethnicities     = []string{"white", "black", "hispanic", "asian", "other", ""}
	insurances      = []string{"medicare", "private", "medicaid", "government", "self-pay"}
	maritalStatuses = []string{"married", "single", "widowed", "divorced", ""}
)

// draw simulates one patient: demographics, then comorbidity, then the severity factor s, then one
// factor per organ, then what is measured at the bedside and in the laboratory. The number of draws
// is the same for every patient.
func draw(s *source, pop population) patient {
	var p patient
	z := s.normal

	// Demographics. The age is normal and reflected at its ends; insurance and marital status follow
	// it.
	years := 64.5 + 16.5*z()
	if years > 89 {
		years = 178 - years
	}
	if years < 18 {
		years = 36 - years
	}
	p.age = s.round(years, 18, 89)
	a := float64(p.age-64) / 16
	p.female = s.chance(-.25 + .12*a)
	female := 0.
	if p.female {
		female = 1
	}
	p.ethnicity = s.pick(.71*math.Exp(.25*a), .10, .045, .03, .05, .065)
	if p.age >= 65 {
		p.insurance = s.pick(.86, .11, .015, .01, .005)
	} else {
		p.insurance = s.pick(.14, .61, .17, .05, .03)
	}
	p.marital = s.pick(.50, .24*math.Exp(-1.1*a), .11*math.Exp(1.3*a+.9*female), .09, .045)
	p.admission = s.pick(1, math.Exp(pop.surgical-.1*a), .22)

	// Comorbidity c, then severity s.
	c := .45*a + .9*z()
	p.metastatic = s.chance(-3.1 + .7*c)
	p.haematologic = s.chance(-3.6 + .4*c)
	p.aids = s.chance(-4.6 - .9*a)
	p.organFailure = s.chance(-1.9 + .9*c)
	p.charlson = min(s.step(c+.5*z(), -.6, .1, .8, 1.4,
		2)+6*one(p.metastatic)+2*one(p.haematologic)+6*one(p.aids)+2*one(p.organFailure), 15)
	sev := pop.severity + .25*a + .25*c + .85*z() + []float64{0, -.7, .15}[p.admission]

	// Organs.
	organ := func() float64 { return .62*sev + .78*z() }
	lung, liver, heart, brain, kidney := organ(), organ(), organ(), organ(), organ()
	kidney += .2 * c
	blood := .35*sev + .40*liver + .80*z()
	inflamed := .40*sev + .90*z()
	acid := .35*sev + .35*heart + .25*kidney + .70*z()

	// Circulation.
	p.heartRate = s.round(math.Exp(4.45+.065*heart+.065*inflamed+.045*acid-.03*a+.14*z()), 25, 210)
	pressure := 77 - 6*heart - 2*sev + 9*z()
	p.meanBP = s.round(pressure, 25, 170)
	p.systolicBP = s.round(1.30*pressure+14+5*a+8*z(), 40, 260)
	p.pressors = s.step(heart+.3*z(), 1.15, 1.45, 1.95)

	// Lungs and blood gas: the worse the lung, the less oxygen gained and the more given.
	p.ventilated = s.below(.15, .8*lung+.35*brain+.35*z())
	p.respRate = s.round(math.Exp(2.90+.12*lung+.08*acid+.19*z()), 4, 60)
	p.pao2fio2 = s.round(math.Exp(5.72-.32*lung+.27*z()), 40, 600)
	p.fio2 = s.round(36+12*lung+12*float64(one(p.ventilated))+7*z(), 21, 100)
	p.bicarbonate = s.round(23.8-2.3*acid+2.8*z(), 4, 48)
	p.ph = s.round(739-5*acid-1.5*lung+4*z(), 680, 770)
	p.lactate = s.round(10*math.Exp(.42+.36*acid+.14*liver+.28*z()), 3, 250)

	// Brain. One depth of coma, three readings of it.
	coma := .85*brain + .25*float64(one(p.ventilated))
	p.eye = 4 - s.step(coma+.30*z(), .75, 1.10, 1.45)
	p.verbal = 5 - s.step(coma+.30*z(), .55, 1.00, 1.15, 1.30)
	p.motor = 6 - s.step(coma+.30*z(), .95, 1.35, 1.75, 2.00, 2.20)

	// Kidney, liver, blood, salts.
	p.creatinine = s.round(10*math.Exp(.02-.12*female+.48*kidney+.24*z()), 1, 180)
	p.bun = s.round(math.Exp(2.88+.42*kidney+.16*a+.28*z()), 2, 220)
	p.urine = s.round(math.Exp(7.52-.38*kidney-.16*heart+.38*z()), 0, 9000)
	p.bilirubin = s.round(10*math.Exp(-.38+.68*liver+.46*z()), 1, 420)
	p.platelets = s.round(math.Exp(5.33-.34*blood+.34*z()), 5, 1000)
	p.whiteCells = s.round(10*math.Exp(2.33+.20*inflamed+.36*z()), 1, 800)
	marrow := 31.5 - 1.6*blood - 1.2*kidney - 1.6*female + 4.2*z()
	p.haematocrit = s.round(marrow, 14, 60)
	p.haemoglobin = s.round(10*marrow/3+3*z(), 40, 200)
	p.sodium = s.round(138.4+4.3*z(), 108, 175)
	p.potassium = s.round(10*(4.15+.22*kidney+.15*acid+.50*z()), 18, 85)
	p.glucose = s.round(math.Exp(4.88+.07*sev+.05*inflamed+.27*z()), 30, 800)
	p.temperature = s.round(10*(36.9+.30*inflamed-.15*sev+.75*z()), 310, 415)
	p.hoursBefore = s.round(math.Exp(1.2+1.9*z()), 0, 900)

	// What was measured.
	p.gasTaken = s.chance(.9 + 1.1*lung + 1.5*float64(one(p.ventilated)))
	p.lactateTaken = s.chance(1.0 + .9*acid)
	p.bilirubinTaken = s.chance(1.1 + .8*liver)
	p.glucoseTaken = s.chance(3.2)
	return p
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
