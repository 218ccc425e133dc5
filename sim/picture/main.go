// Command picture draws a run of the built-in robot as SVG.
//
//	go run ./sim/picture -run FILE -o out.svg        a run recorded with the parameter sim.record
//	go run ./sim/picture -to kitchen,office -o out.svg   a drive of its own, without ROS
//	go run ./sim/picture -o out.svg                  the world alone
//	go run ./sim/picture -urdf -o out.svg            the robot: its links' shapes, joints and limits
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"agent_node/sim/plot"
	"agent_node/sim/world"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("picture", flag.ContinueOnError)
	file := flags.String("run", "", "recorded run, JSON lines (parameter sim.record)")
	to := flags.String("to", "", "places to drive to from the dock, with commas between them")
	seed := flags.Uint64("seed", 1, "seed of the drive")
	title := flags.String("title", "", "title of the picture")
	urdf := flags.Bool("urdf", false, "the robot itself, as its URDF has it")
	output := flags.String("o", "", "file to write; standard output without it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no argument", flags.Arg(0))
	}
	w := world.Default()
	var samples []plot.Sample
	switch {
	case count(*file != "", *to != "", *urdf) > 1:
		return errors.New("-run, -to and -urdf exclude each other")
	case *file != "":
		samples, err = read(*file)
	case *to != "":
		samples, err = drive(w, strings.Split(*to, ","), *seed)
	}
	if err != nil {
		return err
	}
	out := stdout
	if *output != "" {
		f, err := os.Create(*output)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	if *urdf {
		return plot.Body(out, w, overTable)
	}
	return plot.SVG(out, w, samples, plot.Options{Title: *title})
}

// overTable has the tool, pointing down, on an object half a metre ahead.
var overTable = world.Posture{Arm: [world.Joints]float64{-0.1150, -0.9554, 1.2202, -1.8355, -1.5708, 1.4558}, Width: 0.05}

func count(all ...bool) (n int) {
	for _, v := range all {
		if v {
			n++
		}
	}
	return n
}

func read(name string) ([]plot.Sample, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	samples, err := plot.Read(f)
	return samples, errors.Join(err, f.Close())
}
