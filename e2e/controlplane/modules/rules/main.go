// Reads rule groups as Prometheus does, with their expressions and templates, and says what is wrong.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

func main() {
	content, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	_, problems := rulefmt.Parse(content, false, model.UTF8Validation)
	for _, problem := range problems {
		fmt.Println(problem)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}
