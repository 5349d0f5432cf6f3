// Referee checks the history of a run against what the documents promise: see README.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, errors io.Writer) int {
	flags := flag.NewFlagSet("referee", flag.ContinueOnError)
	flags.SetOutput(errors)
	timeout := flags.Duration("timeout", time.Minute, "how long to check each part")
	pictures := flags.String("picture", "", "a folder for pictures of illegal parts")
	var files []string
	for len(args) > 0 { // flags may stand after the file
		if err := flags.Parse(args); err != nil {
			return 2
		}
		if args = flags.Args(); len(args) > 0 {
			files = append(files, args[0])
			args = args[1:]
		}
	}
	if len(files) != 1 {
		fmt.Fprintln(errors, "referee HISTORY.jsonl [--timeout 60s] [--picture DIR]")
		return 2
	}
	file, err := os.Open(files[0])
	if err != nil {
		fmt.Fprintln(errors, err)
		return 2
	}
	defer file.Close()
	history, err := readHistory(file)
	if err != nil {
		fmt.Fprintf(errors, "%s: %v\n", files[0], err)
		return 2
	}
	return report(out, history.verdicts(*timeout, *pictures))
}

func (h *History) verdicts(timeout time.Duration, pictures string) []Verdict {
	context := contextOf(h)
	var all []Verdict
	for _, part := range h.parts() {
		all = append(all, h.check(part, context, timeout, pictures))
	}
	return all
}
