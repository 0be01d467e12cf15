package main

import (
	"slices"
	"strings"
	"unicode"
)

// idWords end the names of columns that tell people apart.
var idWords = []string{"id", "identifier", "mrn", "pid", "ssn", "nhs", "uuid", "guid"}

// idNames do so as they are, in one word.
var idNames = []string{"patientid", "subjectid", "personid", "caseid", "userid", "customerid",
	"patientnumber", "patientno", "nhsnumber", "nhsno", "medicalrecordnumber", "subject", "encounter",
	"patnr", "patientnr", "patientennr", "patientennummer", "fallnr", "fallnummer"}

// looksLikeID reports whether the name of a column is one of ids.
func looksLikeID(name string) bool {
	var apart strings.Builder
	for i, r := range name { // PatientID, patientId
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(name[i-1])) {
			apart.WriteByte(' ')
		}
		apart.WriteRune(unicode.ToLower(r))
	}
	words := strings.FieldsFunc(apart.String(), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return len(words) > 0 && (slices.Contains(idWords, words[len(words)-1]) ||
		slices.Contains(idNames, strings.Join(words, "")))
}

// sayIDs warns of columns whose public names are those of ids, in a table without a unit.
func sayIDs(t *terminal, unit string, names []string) {
	for _, name := range names {
		if unit == "" && looksLikeID(name) {
			t.say("warning: %q looks like an id: every row counts as another person, and the ids are a "+
				"column like any other. If a person has several rows, or to leave the ids out: %s", name,
				"--unit, or 'unit:' in a schema, names that column")
		}
	}
}
