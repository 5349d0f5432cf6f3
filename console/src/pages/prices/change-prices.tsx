import { Button, FileButton, Text, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type DragEvent, type ReactNode, useState } from 'react'
import { CsvError } from '../../../../src/domain/basics/csv-rows.ts'
import { textOfFile } from '../../../../src/domain/basics/file-text.ts'
import { newIdempotencyKey } from '../../api/http.ts'
import { ApiProblem, isOutdated } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import tables from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Form, Leave } from '../../components/form.tsx'
import { TextField } from '../../components/text-field.tsx'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { formatList, formatTimestamp } from '../../formats.ts'
import { toTimestamp } from '../../model/local-time.ts'
import { PRICE_COLUMNS, type PriceIssue, type PriceRow, priceIssues, readPrices } from '../../model/price-file.ts'
import { useChange } from '../../queries/calls.ts'
import { previewPrices } from '../../queries/rates.ts'
import { texts } from '../../texts/texts.ts'
import { destinationText } from './lines.tsx'

const words = texts.rates.change

type Preview = Api['RateLinesSet']
type Changed = Preview['changed'][number]

/** What is sent. */
interface Prices {
  rows: readonly PriceRow[]
  places: readonly number[]
  /** Null: at once. */
  valid_from: string | null
  /** Of its apply, so that a repetition is answered as the first attempt. */
  key: string
}

/** Gives a card another list of prices, which is looked at before. */
export default function ChangePrices({ id }: { id: number }) {
  const [text, setText] = useState('')
  const [from, setFrom] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [done, setDone] = useState('')
  useUnsavedInput(text !== '')
  const looking = useMutation({
    mutationFn: ({ rows, valid_from }: Prices) => previewPrices(id, rows, valid_from),
  })

  function preview() {
    setDone('')
    const read = pricesIn(text)
    setProblem('problem' in read ? read.problem : null)
    if ('problem' in read) return looking.reset()
    looking.mutate({ ...read, valid_from: from === '' ? null : toTimestamp(from), key: newIdempotencyKey() })
  }
  function finish({ card, valid_from }: Preview) {
    const isLater = looking.variables?.valid_from != null
    setDone(isLater ? words.doneFrom(card.version, formatTimestamp(valid_from)) : words.done(card.version))
    setText('')
    setFrom('')
    looking.reset()
  }
  if (looking.data !== undefined)
    return (
      <PreviewForm
        id={id}
        prices={looking.variables}
        preview={looking.data}
        onAgain={preview}
        onBack={looking.reset}
        onDone={finish}
      />
    )
  const issues = looking.error instanceof ApiProblem ? priceIssues(looking.error, looking.variables?.places ?? []) : []
  return (
    <Form
      sending={looking}
      rest={issues.length > 0 ? null : looking.error}
      onSubmit={preview}
      submit={words.preview}
      beside={
        <Text size="sm" role="status">
          {done}
        </Text>
      }
      maw="46rem"
    >
      <PricesField
        text={text}
        onText={setText}
        onProblem={setProblem}
        error={problem ?? issuesText(issues.filter(({ about }) => about !== 'valid_from'))}
      />
      <TextField
        type="datetime-local"
        label={words.from}
        about={words.aboutFrom}
        maw="16rem"
        value={from}
        onChange={setFrom}
        error={issues.some(({ about }) => about === 'valid_from') && words.issues.valid_from}
      />
    </Form>
  )
}

function issuesText(issues: readonly PriceIssue[]): ReactNode {
  const lines = new Set(issues.map(({ line, about }) => words.issue(line, words.issues[about])))
  return (
    lines.size > 0 &&
    [...lines].map(line => (
      <span key={line} style={{ display: 'block' }}>
        {line}
      </span>
    ))
  )
}

/** The rows of a text, or why it has none. */
function pricesIn(text: string): { rows: readonly PriceRow[]; places: readonly number[] } | { problem: string } {
  try {
    const read = readPrices(text)
    if (!('problem' in read)) return read
    return {
      problem: read.problem === 'empty' ? words.problems.empty : words.problems.columns(PRICE_COLUMNS.join(', ')),
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { problem: texts.manyQuotas.importing.faults[error.fault](error.line) }
  }
}

interface PricesFieldProps {
  text: string
  onText: (text: string) => void
  onProblem: (problem: string) => void
  error: ReactNode
}

/** Of a file: the service takes no more. */
const MAX_MEGABYTES = 4

/** Takes a text, or that of a file by drop or by choice. */
function PricesField({ text, onText, onProblem, error }: PricesFieldProps) {
  const read = async (file: File | null | undefined) => {
    if (file == null) return
    if (file.size > MAX_MEGABYTES * 1_000_000) return onProblem(words.problems.tooLarge(MAX_MEGABYTES))
    onText(textOfFile(new Uint8Array(await file.arrayBuffer())))
  }
  function drop(event: DragEvent) {
    const [file] = event.dataTransfer.files
    if (file === undefined) return
    event.preventDefault()
    void read(file)
  }
  return (
    <>
      <Text size="sm">{words.about}</Text>
      <FileButton accept=".csv,.txt,text/csv" onChange={file => void read(file)}>
        {props => (
          <Button {...props} variant="default" size="xs" w="fit-content">
            {words.file}
          </Button>
        )}
      </FileButton>
      <Textarea
        label={words.label}
        description={PRICE_COLUMNS.join(',')}
        rows={8}
        spellCheck={false}
        dir="ltr"
        value={text}
        onChange={event => onText(event.currentTarget.value)}
        onDragOver={event => event.preventDefault()}
        onDrop={drop}
        error={error}
      />
    </>
  )
}

/* ── Preview ────────────────────────────────────────────────────────────────────────────────────────────────────── */

interface PreviewFormProps {
  id: number
  prices: Prices
  preview: Preview
  onAgain: () => void
  onBack: () => void
  onDone: (set: Preview) => void
}

/** Changes that are shown. */
const MAX_SHOWN = 20

/** What the prices change, before they are set on the version that was compared. */
function PreviewForm({ id, prices, preview, onAgain, onBack, onDone }: PreviewFormProps) {
  const { card, changes, changed } = preview
  const applying = useChange('PUT /admin/rate-cards/{id}/lines', set => {
    releaseInput()
    onDone(set)
  })
  const counts = (['new', 'gone', 'dearer', 'cheaper'] as const).filter(change => changes[change] > 0)
  const total = counts.reduce((sum, change) => sum + changes[change], 0)
  const isStale = isOutdated(applying.error)
  const { rows, valid_from, key } = prices
  return (
    <Form
      sending={applying}
      remedy={isStale && words.outdated}
      onSubmit={() =>
        isStale
          ? onAgain()
          : applying.mutate({
              ...{ id, body: { lines: rows }, query: { valid_from } },
              ...{ ifMatch: card.version, idempotencyKey: key },
            })
      }
      submit={isStale ? words.preview : words.apply}
      isDisabled={total === 0}
      beside={<Leave onClick={onBack}>{words.back}</Leave>}
    >
      <Text
        ref={takeFocus}
        tabIndex={-1}
        size="sm"
        fw={600}
        role="status"
        style={{ scrollMarginTop: '5rem', outline: 'none' }}
      >
        {total === 0
          ? words.nothing
          : words.summary(formatList(counts.map(change => words.counts[change](changes[change]))))}
      </Text>
      {total > 0 && (
        <div>
          <DataTable
            label={words.table}
            columns={COLUMNS}
            rows={changed.slice(0, MAX_SHOWN)}
            keyOf={({ prefix, country, message_type }) => `${prefix} ${country} ${message_type}`}
          />
          {total > MAX_SHOWN && <p className={tables.more}>{words.more(total - MAX_SHOWN)}</p>}
        </div>
      )}
    </Form>
  )
}

/** The button that had it is gone. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus()
}

const COLUMNS: readonly Column<Changed>[] = [
  { label: words.columns.destination, kind: 'name', cell: destinationText },
  {
    label: words.columns.type,
    kind: 'name',
    cell: ({ message_type }) => message_type ?? texts.rates.lines.allTypes,
  },
  { label: words.columns.change, cell: ({ change }) => words.kinds[change] },
  {
    label: words.columns.cost,
    cell: ({ before, after }) =>
      texts.changes.fromTo(before === null ? '–' : words.cost(before), after === null ? '–' : words.cost(after)),
  },
]
