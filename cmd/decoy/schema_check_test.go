package main

import "testing"

func TestLooksLikeID(t *testing.T) {
	for name, want := range map[string]bool{"id": true, "ID": true, "patient_id": true,
		"Patient ID": true, "PatientID": true, "patientId": true, "mrn": true, "MRN": true, "pid": true,
		"subject.id": true, "patientid": true, "NHS number": true, "hadm_id": true, "PatNr": true,
		"Pat-Nr.": true, "Patientennummer": true, "Fallnr": true, "FallNr": true, "PID": true,
		"case_id": true, "subject": true, "encounter": true, "nhs": true, "subjective": false,
		"HausNr": false, "": false,
		"paid": false, "age": false, "acid": false, "valid": false, "Covid": false, "number": false,
		"fluid": false, "ID type": false} {
		if got := idName.MatchString(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
