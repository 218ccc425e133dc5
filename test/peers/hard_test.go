//go:build !race

package peers

import (
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/spatial"
)

// TestPairsOnWhichSolversDiffer are the three of 100,000 pairs of a capsule and a cylinder for which Coal gives up to 70 micrometres more, and for which the way
// between the nearest points is least exact, and the one such of two cylinders: a plane proves ours, as do two points.
func TestPairsOnWhichSolversDiffer(t *testing.T) {
	for i, c := range []shapePair{
		{
			collision.Shape{Kind: collision.Capsule, Radius: 0.008514284926751103, Length: 0.029748429025623586},
			collision.Shape{Kind: collision.Cylinder, Radius: 0.054767479231533016, Length: 0.04216756273640578},
			spatial.Transform{Translation: r3.Vec{X: 0.0013770549800994273, Y: 0.034635129721613554, Z: -0.04685125241921754}, Rotation: quat.Number{Real: 0.5000000000000001, Imag: 0.5, Jmag: 0.5, Kmag: -0.4999999999999999}},
			spatial.Transform{Translation: r3.Vec{X: 0.02853877224701673, Y: -0.007223480994994342, Z: 0.05498006698451312}, Rotation: quat.Number{Real: 0.449449416731061, Imag: -0.5960068209791552, Jmag: -0.30603996003016554, Kmag: 0.5908558487576855}},
		},
		{
			collision.Shape{Kind: collision.Capsule, Radius: 0.016787452442483072, Length: 0.07838245136579752},
			collision.Shape{Kind: collision.Cylinder, Radius: 0.043821619968715544, Length: 0.19113245634878512},
			spatial.Transform{Translation: r3.Vec{X: 0.09297559274817101, Y: 0.05172380797940527, Z: -0.06768834475028064}, Rotation: quat.Number{Real: 0.7071067811865476, Imag: -8.65956056235492e-17, Jmag: -0.7071067811865475, Kmag: -8.65956056235492e-17}},
			spatial.Transform{Translation: r3.Vec{X: 0.053817283932555436, Y: -0.05516203522147302, Z: 0.07207072098223762}, Rotation: quat.Number{Real: 0.7071067811865476, Imag: -8.65956056235492e-17, Jmag: 6.162975822039155e-33, Kmag: 0.7071067811865475}},
		},
		{
			collision.Shape{Kind: collision.Capsule, Radius: 0.0077556190877102185, Length: 0.06600694590282782},
			collision.Shape{Kind: collision.Cylinder, Radius: 0.2381677773793117, Length: 0.05526192156815684},
			spatial.Transform{Translation: r3.Vec{X: -0.07207103705956981, Y: -0.030561937179646285, Z: -0.15089664620314647}, Rotation: quat.Number{Real: -0.8378378895737043, Imag: 0.04413168328846703, Jmag: 0.19185707919598835, Kmag: 0.5091865340788104}},
			spatial.Transform{Translation: r3.Vec{X: 0.17099155953923634, Y: -0.17872762500003336, Z: 0.1693265725727055}, Rotation: quat.Number{Real: 0.06065583005390866, Imag: -0.41889621692446577, Jmag: 0.4901676353658402, Kmag: -0.7619596570466859}},
		},
		{
			collision.Shape{Kind: collision.Cylinder, Radius: 0.2722318949534264, Length: 0.10949517578389127},
			collision.Shape{Kind: collision.Cylinder, Radius: 0.15358318189177675, Length: 0.03435810381824886},
			spatial.Transform{Translation: r3.Vec{X: 0.20667482618907823, Y: 0.21830018625476755, Z: 0.17245343520160988}, Rotation: quat.Number{Real: 0.710864697059782, Imag: -0.4054626294671444, Jmag: 0.4048295931023685, Kmag: 0.40790248727883993}},
			spatial.Transform{Translation: r3.Vec{X: -0.04444672838361814, Y: -0.18466542234167063, Z: -0.18767130882985628}, Rotation: quat.Number{Real: 0.7731676470814411, Imag: -0.05976331357470679, Jmag: -0.1982835336952824, Kmag: -0.5994362152242979}},
		},
	} {
		d := collision.Distance(c.a, c.at, c.b, c.bt)
		if err := prove(c, d); err != nil {
			t.Errorf("pair %d: %v", i, err)
		}
		if other := collision.Distance(c.b, c.bt, c.a, c.at); !(other <= d+band) || !(other >= d-band) {
			t.Errorf("pair %d: %.9g, the other way round %.9g", i, d, other)
		}
	}
}
