import type { ReactNode } from 'react'
import { ApiProblem } from '../api/problem.ts'

export interface FieldFaults<Field extends string = string> {
  /** What is wrong with a field, as it is shown beside it; undefined if nothing is. */
  at(field: Field): ReactNode
  /** What went wrong otherwise; null if the fields tell it all. */
  rest: Error | null
}

/**
 * Sorts what the API found wrong to the fields that it is about.
 *
 * @param fields the properties of the body, or the parameters, that are shown; a path within one belongs to it
 */
export function fieldFaults<Field extends string>(error: Error | null, fields: readonly Field[]): FieldFaults<Field> {
  const told = new Map<string, string[]>()
  let isAllTold = true
  for (const { path, message } of faultsOf(error)) {
    const [name = '', ...inside] = path.replace(/^\//, '').split('/')
    // Which item of a list it is, is seen; which key of a map is not.
    const words = sentence([...inside.filter(step => !/^\d+$/.test(step)), message].join(' '))
    if (fields.some(field => field === name)) told.set(name, [...(told.get(name) ?? []), words])
    else isAllTold = false
  }
  return { at: field => told.get(field)?.join(' '), rest: isAllTold && told.size > 0 ? null : error }
}

function faultsOf(error: Error | null): ApiProblem['faults'] {
  // What another request had in these fields is no fault of this one.
  return error instanceof ApiProblem && error.code !== 'idempotency_mismatch' ? error.faults : []
}

function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1)
  return text.endsWith('.') ? text : `${text}.`
}
