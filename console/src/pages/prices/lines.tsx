import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { RATE_PREFIX_PATTERN } from '../../../../src/domain/basics/bounds.ts'
import type { Api } from '../../api/types.ts'
import { unitsColumn } from '../../components/columns.tsx'
import tables from '../../components/data-table.module.css'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { countriesOfNumber } from '../../components/destination.ts'
import { TextFilter } from '../../components/filter-fields.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { countryLabel } from '../../formats.ts'
import { countriesOfDigits } from '../../model/calling-codes.ts'
import { countryOfText } from '../../model/countries.ts'
import { type DecidingLine, decidingLines, digitsOf } from '../../model/rates.ts'
import { matching } from '../../model/url-parameters.ts'
import { pageOf } from '../../queries/calls.ts'
import { decidingLinesQuery } from '../../queries/rates.ts'
import { texts } from '../../texts/texts.ts'

const words = texts.rates.lines
const { lookUp } = texts.rates

type Line = Api['RateLine']
type Place = Pick<Line, 'prefix' | 'country'>

interface ListProps {
  id: number
  version: number
}

/** The messages that a line is for. */
export function destinationText({ prefix, country }: Place): string {
  if (prefix !== null) return `+${prefix}`
  return country === null ? words.others : countryLabel(country)
}

const costColumns = <Row,>(lineOf: (row: Row) => Line) => [
  unitsColumn<Row>(words.columns.segment, row => lineOf(row).per_segment),
  unitsColumn<Row>(words.columns.message, row => lineOf(row).per_message),
]
const COLUMNS: readonly Column<Line>[] = [
  { label: words.columns.destination, kind: 'name', cell: destinationText },
  { label: words.columns.type, kind: 'name', cell: ({ message_type }) => message_type ?? words.allTypes },
  ...costColumns((line: Line) => line),
]

const keyOf = ({ prefix, country, message_type }: Place & Pick<Line, 'message_type'>) =>
  `${prefix} ${country} ${message_type}`

const PAGE_SIZE = 50
const toPrefix = matching(new RegExp(RATE_PREFIX_PATTERN))
const STATE = { prefix: toPrefix }

/** The first lines of a list, or those of a prefix. */
export function Lines({ id, version }: ListProps) {
  const [{ prefix }, change] = useUrlState(STATE)
  const query = { version, page_size: PAGE_SIZE, prefix }
  const lines = useQuery(pageOf('GET /admin/rate-cards/{id}/lines', { id, query }))
  return (
    <>
      <search>
        <Group mb="sm">
          <TextFilter
            words={words.prefix}
            value={prefix}
            parse={text => toPrefix(digitsOf(text))}
            onApply={next => change({ prefix: next })}
          />
        </Group>
      </search>
      <Loaded query={lines} loading={<Loading rows={5} height={34} />}>
        {({ items, next_cursor }) =>
          items.length === 0 ? (
            <EmptyState title={words.none} />
          ) : (
            <>
              <DataTable
                label={words.title(version)}
                columns={COLUMNS}
                rows={items}
                keyOf={keyOf}
                isStale={lines.isPlaceholderData}
              />
              {next_cursor !== null && <p className={tables.more}>{words.more}</p>}
            </>
          )
        }
      </Loaded>
    </>
  )
}

/* ── Look-up ────────────────────────────────────────────────────────────────────────────────────────────────────── */

interface Asked {
  digits: string | null
  country: string | null
}

/** Which lines of a list decide for a number, its beginning, or a country. */
export function LookUp(list: ListProps) {
  const [text, setText] = useState('')
  const [asked, setAsked] = useState<Asked | 'wrong' | null>(null)
  async function submit(event: FormEvent) {
    event.preventDefault()
    setAsked((await askedBy(text)) ?? 'wrong')
  }
  return (
    <>
      <form onSubmit={event => void submit(event)}>
        <TextField
          label={lookUp.label}
          about={lookUp.about}
          maw="24rem"
          value={text}
          onChange={setText}
          error={asked === 'wrong' && lookUp.error}
        />
        <Button type="submit" variant="default" size="xs" my="sm">
          {lookUp.submit}
        </Button>
      </form>
      {asked !== null && asked !== 'wrong' && <Found list={list} asked={asked} />}
    </>
  )
}

/** What a text means; null if it is neither digits nor a country. The beginning of a number may belong to several countries. */
async function askedBy(text: string): Promise<Asked | null> {
  const named = countryOfText(text)
  const digits = digitsOf(text)
  if (digits === null) return named === null ? null : { digits, country: named }
  const { country = null } = await countriesOfNumber(`+${digits}`)
  const [only = null, ...others] = countriesOfDigits(digits)
  return { digits, country: country ?? (others.length === 0 ? only : null) }
}

function Found({ list, asked }: { list: ListProps; asked: Asked }) {
  const lines = useQuery(decidingLinesQuery(list, asked.digits))
  const named = [asked.digits && `+${asked.digits}`, asked.country && countryLabel(asked.country)]
  return (
    <Loaded query={lines} loading={<Loading rows={2} height={34} />}>
      {found => (
        <div role="status">
          <Text size="sm" fw={600}>
            {named.filter(name => name !== null).join(' · ')}
          </Text>
          <DataTable
            label={lookUp.result}
            columns={DECIDING}
            rows={decidingLines(found, asked)}
            keyOf={({ message_type }) => message_type ?? ''}
          />
        </div>
      )}
    </Loaded>
  )
}

const DECIDING: readonly Column<DecidingLine>[] = [
  { label: words.columns.type, kind: 'name', cell: ({ message_type }) => message_type ?? words.allTypes },
  { label: words.columns.destination, kind: 'name', cell: ({ line }) => destinationText(line) },
  ...costColumns(({ line }: DecidingLine) => line),
]
