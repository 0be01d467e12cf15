package synth

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Fill gives the numbers of a method's Config, to which config points, their defaults where they
// are 0, and checks their ranges: the tags default, min and max of a field, which has no range
// without them. An error wraps [ErrConfig] and names the setting.
func Fill(method string, config any) error {
	v := reflect.ValueOf(config).Elem()
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		low, bounded := tag.Lookup("min")
		if !bounded {
			continue
		}
		lo, hi, def := numeral(low), numeral(tag.Get("max")), numeral(tag.Get("default"))
		var x float64
		if field.CanInt() {
			if field.Int() == 0 {
				field.SetInt(int64(def))
			}
			x = float64(field.Int())
		} else {
			if field.Float() == 0 {
				field.SetFloat(def)
			}
			x = field.Float()
		}
		if !(x >= lo && x <= hi) {
			key, _, _ := strings.Cut(tag.Get("mapstructure"), ",")
			return fmt.Errorf("%s: %s %v must be from %v to %v: %w", method, key,
				x, lo, hi, ErrConfig)
		}
	}
	return nil
}

// numeral reads the number of a tag; "" is 0.
func numeral(text string) float64 {
	x, err := strconv.ParseFloat("0"+text, 64)
	if err != nil {
		panic("synth: a tag of a setting: " + err.Error())
	}
	return x
}
