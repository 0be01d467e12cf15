package schema_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/data/schema"
)

func Example() {
	s, err := schema.Parse([]byte(`
decoy: 1
unit: patient_id
max_rows_per_unit: 4
columns:
  - name: age
    kind: integer
    min: 18
    max: 97
    bins: 8
    on_invalid: clamp
  - name: sex
    kind: categorical
    categories: [female, male]
    missing: [""]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("codes:", s.Sizes())

	codecs, err := s.Codecs()
	if err != nil {
		fmt.Println(err)
		return
	}
	age, sex := codecs[0], codecs[1]
	code, _ := age.EncodeText([]byte("64"))
	fmt.Println("64 is in", age.Label(code))
	code, _ = age.EncodeText([]byte("103"))
	fmt.Println("103 is clamped to", age.Label(code))
	_, err = sex.EncodeText([]byte("unknown"))
	fmt.Println("another sex:", err)

	u := rand.New(rand.NewPCG(1, 2))
	fmt.Printf("drawn: %s\n", age.AppendText(nil, age.Decode(4, u)))
	// Output:
	// codes: [8 3]
	// 64 is in [58, 68)
	// 103 is clamped to [88, 97]
	// another sex: not one of the declared categories
	// drawn: 65
}

func ExampleDrafter() {
	d := schema.NewDrafter([]string{"age", "ward", "weight"})
	d.Add([]string{"64", "medical", "81.5"})
	d.Add([]string{"39", "surgical", "NA"})
	d.Add([]string{"71", "", "64.0"})
	s, err := d.Schema()
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := s.YAML()
	fmt.Printf("%s", text)
	// Output:
	// decoy: 1
	// columns:
	//   - name: age
	//     kind: integer
	//     min: 39
	//     max: 71
	//     bins: 33
	//   - name: ward
	//     kind: categorical
	//     categories: [medical, surgical]
	//     missing: [""]
	//   - name: weight
	//     kind: real
	//     min: 64
	//     max: 82
	//     bins: 32
	//     decimals: 1
	//     missing: [NA]
}
