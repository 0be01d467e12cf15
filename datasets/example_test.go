package datasets_test

import (
	"fmt"
	"log"

	"github.com/decoy-dp/decoy/datasets"
)

func ExampleGet() {
	d, err := datasets.Get("icu-mortality")
	if err != nil {
		log.Fatal(err)
	}
	t, err := d.Table()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Title)
	fmt.Printf("%d rows, %d columns, %s %.1f %%\n", t.Rows(), len(t.Schema().Columns), d.Label,
		100*d.Rate)

	_, err = datasets.Get("icu-mortalty")
	fmt.Println(err)
	// Output:
	// Simulated intensive care: six scores and values, five demographic categories, mortality
	// 2085 rows, 12 columns, mortality 6.3 %
	// unknown data set "icu-mortalty": did you mean "icu-mortality"? there are icu-mortality, icu-readmission, icu-severity, acs_ma2019, adult, bank, cervical, creditcard_sub, heart_cleveland, mammography, support2
}
