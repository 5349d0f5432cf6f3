import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ApiProblem } from '../../api/problem.ts'

/** What the service said is wrong with a form: its words next to the field that they are about. */
export interface Faults {
  /** By the field's name in the API. */
  byField: ReadonlyMap<string, ReactNode>
  /** Whatever is about no field that is shown. */
  others: readonly string[]
}

/** @param fields the names of those that the form has */
export function faultsOf(error: Error | null, fields: readonly string[]): Faults {
  // What another request had in these fields is no fault of this one.
  if (!(error instanceof ApiProblem) || error.code === 'idempotency_mismatch') return { byField: new Map(), others: [] }
  if (error.code === 'conflict') return { byField: new Map([['external_ref', conflict(error)]]), others: [] }

  const byField = new Map<string, string[]>()
  const others: string[] = []
  for (const { path, message } of error.faults) {
    const [, name = '', ...rest] = path.split('/')
    const words = sentence([...rest, message].filter(word => !/^\d+$/.test(word)).join(' '))
    if (fields.includes(name)) byField.set(name, [...(byField.get(name) ?? []), words])
    else others.push(`${path === '' ? 'The form' : path}: ${message}`)
  }
  return { byField: new Map(Array.from(byField, ([name, lines]) => [name, lines.join(' ')])), others }
}

function conflict(error: ApiProblem): ReactNode {
  return (
    <>
      {error.message}{' '}
      {error.existingId !== null && (
        <Anchor component={Link} href={`/quotas/${error.existingId}`} inherit underline="always">
          Open quota {error.existingId}
        </Anchor>
      )}
    </>
  )
}

function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1)
  return text.endsWith('.') ? text : `${text}.`
}
