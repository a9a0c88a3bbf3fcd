package score

import (
	"encoding/json"
	"fmt"
	"math"
)

// A Value is a figure that may be undefined: a share of nothing is no share, and
// never 0. The zero Value is undefined.
type Value struct {
	V       float64 // 0 when undefined; look at Defined first
	Defined bool
}

// Of gives the defined Value v. NaN and the infinities are undefined.
func Of(v float64) Value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Value{}
	}
	return Value{v, true}
}

// Ratio gives a / b, undefined where b is 0.
func Ratio(a, b float64) Value {
	if b == 0 {
		return Value{}
	}
	return Of(a / b)
}

// String gives a share as "71.4 %", and "undefined".
func (v Value) String() string {
	if !v.Defined {
		return "undefined"
	}
	return fmt.Sprintf("%.1f %%", 100*v.V)
}

// MarshalJSON writes null for undefined.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.Defined {
		return []byte("null"), nil
	}
	return json.Marshal(v.V)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Value) UnmarshalJSON(b []byte) error {
	var p *float64
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*v = Value{}
	if p != nil {
		*v = Of(*p)
	}
	return nil
}

// A Span is a figure known between two bounds. Both are undefined, or none.
type Span struct {
	Low  Value `json:"low"`
	High Value `json:"high"`
}

// String gives "50.0 % to 71.4 %", one figure where the bounds agree, or
// "undefined".
func (s Span) String() string {
	if s.Low == s.High {
		return s.Low.String()
	}
	return s.Low.String() + " to " + s.High.String()
}

// F1 is the harmonic mean of precision and recall, 2pr/(p+r): 0 where both are 0,
// undefined where one is undefined.
func F1(precision, recall Value) Value {
	if !precision.Defined || !recall.Defined {
		return Value{}
	}
	if precision.V+recall.V == 0 {
		return Of(0)
	}
	return Of(2 * precision.V * recall.V / (precision.V + recall.V))
}

func (s Span) f1(recall Value) Span { return Span{F1(s.Low, recall), F1(s.High, recall)} }
