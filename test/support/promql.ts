/**
 * Evaluates the PromQL of the alert rules on scrapes of a service. It is parsed by Prometheus' own grammar. This knows the
 * forms that the rules use, and fails on any other.
 */
import { parser } from '@prometheus-io/lezer-promql'

type Labels = Record<string, string>

export interface Sample {
  name: string
  labels: Labels
  value: number
}

/** What Prometheus has read at a time, in seconds since 1970. */
export interface Scrape {
  at: number
  samples: readonly Sample[]
}

interface Element {
  labels: Labels
  value: number
}

type Node = ReturnType<typeof parser.parse>['topNode']

/** The lines of a page of metrics. */
export function parseMetrics(page: string): Sample[] {
  return page.split('\n').flatMap(line => {
    const [, name = '', labels = '', value = ''] = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === '') return []
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text])
    return [
      { name, labels: Object.fromEntries(pairs), value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) },
    ]
  })
}

/** The series of an expression at a time, from the scrapes up to then, oldest first. */
export function evaluate(expression: string, scrapes: readonly Scrape[], at: number): Element[] {
  const past = scrapes.filter(scrape => scrape.at <= at)
  const result = new Evaluation(expression, past, at).value(parser.parse(expression).topNode)
  if (typeof result === 'number') throw new Error(`${expression} is a number, and an alert needs series`)
  return result
}

/** The names of the metrics that an expression reads. */
export function metricsIn(expression: string): string[] {
  const names: string[] = []
  parser.parse(expression).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`${expression}: syntax error at ${node.from}`)
      if (node.name === 'Identifier') names.push(expression.slice(node.from, node.to))
    },
  })
  return names
}

class Evaluation {
  private readonly expression: string
  private readonly scrapes: readonly Scrape[]
  private readonly at: number

  constructor(expression: string, scrapes: readonly Scrape[], at: number) {
    this.expression = expression
    this.scrapes = scrapes
    this.at = at
  }

  value(node: Node): number | Element[] {
    switch (node.name) {
      case 'PromQL':
        return this.value(this.child(node, 0))
      case 'NumberDurationLiteral':
        return Number(this.text(node))
      case 'VectorSelector':
        return (this.scrapes.at(-1)?.samples ?? []).filter(this.matcher(node))
      case 'BinaryExpr':
        return this.binary(node)
      case 'FunctionCall':
        return this.call(node)
      case 'AggregateExpr':
        return this.sum(node)
      default:
        throw this.unknown(node)
    }
  }

  private binary(node: Node): number | Element[] {
    const [left, right] = [this.value(this.child(node, 0)), this.value(this.child(node, 2))]
    const operator = this.text(this.child(node, 1))
    if (operator === '-' && typeof left !== typeof right) return differences(left, right)
    if (operator === 'or' && typeof left !== 'number' && typeof right !== 'number') {
      const known = new Set(left.map(({ labels }) => keyOf(labels)))
      return [...left, ...right.filter(({ labels }) => !known.has(keyOf(labels)))]
    }
    if (typeof left === 'number' || typeof right !== 'number') throw this.unknown(node)
    if (operator === '<') return left.filter(({ value }) => value < right)
    if (operator === '>') return left.filter(({ value }) => value > right)
    if (operator === '==') return left.filter(({ value }) => value === right)
    throw this.unknown(node)
  }

  private call(node: Node): number | Element[] {
    const name = this.text(this.child(node, 0))
    const body = this.child(node, 1)
    if (name === 'time') return this.at
    if (name === 'rate' || name === 'increase') return this.increase(this.child(body, 0), name === 'rate')
    if (name === 'abs') {
      return this.series(this.child(body, 0)).map(({ labels, value }) => ({ labels, value: Math.abs(value) }))
    }
    if (name === 'histogram_quantile') {
      const quantile = Number(this.value(this.child(body, 0)))
      return quantilesOf(quantile, this.series(this.child(body, 1)))
    }
    throw this.unknown(node)
  }

  private sum(node: Node): Element[] {
    const modifier = this.child(node, 1)
    const isKnown = this.text(this.child(node, 0)) === 'sum' && this.child(modifier, 0).name === 'By'
    if (!isKnown) throw this.unknown(node)
    const names = childrenOf(this.child(modifier, 1)).map(label => this.text(label))
    const sums = new Map<string, Element>()
    for (const { labels, value } of this.series(this.child(this.child(node, 2), 0))) {
      const kept = Object.fromEntries(names.flatMap(name => (name in labels ? [[name, labels[name] ?? '']] : [])))
      const key = keyOf(kept)
      sums.set(key, { labels: kept, value: (sums.get(key)?.value ?? 0) + value })
    }
    return [...sums.values()]
  }

  /** Without Prometheus' extrapolation to the edges of the window: a little less than Prometheus' result. */
  private increase(node: Node, isPerSecond: boolean): Element[] {
    if (node.name !== 'MatrixSelector') throw this.unknown(node)
    const [, count = '', unit = ''] = /^(\d+)([sm])$/.exec(this.text(this.child(node, 1))) ?? []
    const from = this.at - Number(count) * (unit === 'm' ? 60 : 1)
    const matches = this.matcher(this.child(node, 0))
    const found = new Map<string, { labels: Labels; last: number; sum: number; since: number; until: number }>()
    for (const { at, samples } of this.scrapes.filter(scrape => scrape.at >= from)) {
      for (const { labels, value } of samples.filter(matches)) {
        const known = found.get(keyOf(labels)) ?? { labels, last: value, sum: 0, since: at, until: at }
        // A counter that is less than before began again at 0.
        const gain = value >= known.last ? value - known.last : value
        found.set(keyOf(labels), { ...known, last: value, sum: known.sum + gain, until: at })
      }
    }
    return [...found.values()]
      .filter(({ since, until }) => until > since)
      .map(({ labels, sum, since, until }) => ({ labels, value: isPerSecond ? sum / (until - since) : sum }))
  }

  private series(node: Node): Element[] {
    const value = this.value(node)
    if (typeof value === 'number') throw this.unknown(node)
    return value
  }

  /** Whether a sample has the name and the labels of a selector. */
  private matcher(node: Node): (sample: Sample) => boolean {
    const [identifier, matchers] = childrenOf(node)
    if (node.name !== 'VectorSelector' || identifier === undefined) throw this.unknown(node)
    const name = this.text(identifier)
    const tests = (matchers === undefined ? [] : childrenOf(matchers)).map(matcher => {
      const [label = '', operator, quoted = '""'] = childrenOf(matcher).map(part => this.text(part))
      const text: string = JSON.parse(quoted)
      if (operator !== '=' && operator !== '=~') throw this.unknown(matcher)
      const pattern = new RegExp(`^(?:${text})$`)
      return ({ labels }: Sample) => (operator === '=' ? labels[label] === text : pattern.test(labels[label] ?? ''))
    })
    return sample => sample.name === name && tests.every(test => test(sample))
  }

  private child(node: Node, index: number): Node {
    const child = childrenOf(node)[index]
    if (child === undefined || child.type.isError) throw this.unknown(node)
    return child
  }

  private text(node: Node): string {
    return this.expression.slice(node.from, node.to)
  }

  private unknown(node: Node): Error {
    return new Error(`this form of PromQL is not known here: ${node.name} ${JSON.stringify(this.text(node))}`)
  }
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = []
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child)
  return children
}

const keyOf = (labels: Labels) => JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** Of series and a number, or of a number and series. */
function differences(left: number | Element[], right: number | Element[]): Element[] {
  const numberOf = (side: number | Element[], own: number) => (typeof side === 'number' ? side : own)
  const series = typeof left === 'number' ? right : left
  if (typeof series === 'number') return []
  return series.map(({ labels, value }) => ({ labels, value: numberOf(left, value) - numberOf(right, value) }))
}

/** The quantile of each histogram, between the bounds of the bucket where it lies. */
function quantilesOf(quantile: number, buckets: readonly Element[]): Element[] {
  const histograms = new Map<string, { labels: Labels; bounds: { le: number; count: number }[] }>()
  for (const { labels, value } of buckets) {
    const { le = '', ...rest } = labels
    const histogram = histograms.get(keyOf(rest)) ?? { labels: rest, bounds: [] }
    histogram.bounds.push({ le: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count: value })
    histograms.set(keyOf(rest), histogram)
  }
  return [...histograms.values()].map(({ labels, bounds }) => {
    const sorted = bounds.toSorted((one, other) => one.le - other.le)
    const rank = quantile * (sorted.at(-1)?.count ?? Number.NaN)
    const index = sorted.findIndex(({ count }) => count >= rank && rank > 0)
    const [below = { le: 0, count: 0 }, here] = [sorted[index - 1], sorted[index]]
    if (here === undefined) return { labels, value: Number.NaN }
    if (here.le === Number.POSITIVE_INFINITY) return { labels, value: below.le }
    return { labels, value: below.le + ((here.le - below.le) * (rank - below.count)) / (here.count - below.count) }
  })
}
