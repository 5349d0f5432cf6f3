import { expect } from 'vitest'
import type { Database } from '../../src/db/connection/database.ts'
import { ERRORS, type ErrorCode } from '../../src/errors.ts'
import type { Answer } from './service.ts'
import { rawSql } from './sql.ts'

/** What calls whose problems are looked at send as X-Request-Id. */
export const REQUEST_ID = 'every-route'
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** A place in the code, SQL, or a name or address of the database. */
const INTERNAL =
  /\bat \S+:\d|\.ts\b|node_modules|\b(select|insert|update) |relation|elsewhere|sms_quota_test|127\.0\.0\.1/i

/** Expects that a call was answered with the problem of a code in the form of all, which reveals nothing of the service. */
export function expectProblem({ status, headers, body }: Answer, code: ErrorCode): void {
  const { title, status: expected } = ERRORS[code]
  expect(status, JSON.stringify(body)).toBe(expected)
  const common = { type: `/docs/errors#${code}`, title, status, code, request_id: REQUEST_ID }
  expect(body).toEqual({ ...common, detail: expect.stringMatching(/^[A-Z].*\.$/) })
  expect(headers).toMatchObject({
    ...{ 'content-type': PROBLEM_TYPE, 'x-request-id': REQUEST_ID, 'cache-control': 'no-store' },
    ...(status === 401 ? { 'www-authenticate': expect.stringMatching(/^Bearer /) } : {}),
  })
  expect(JSON.stringify([body, headers])).not.toMatch(INTERNAL)
}

/** Expects that a call was answered with this problem, with an issue at each of these paths, if any. */
export function expectIssues(answer: Answer, status: number, code: string, paths: string[] | undefined): void {
  const { body, headers } = answer
  expect(answer.status, JSON.stringify(body)).toBe(status)
  expect(headers['content-type']).toBe(PROBLEM_TYPE)
  expect(body).toMatchObject({
    type: `/docs/errors#${code}`,
    title: ERRORS[code as ErrorCode].title,
    ...{ status, code, detail: expect.stringMatching(/./), request_id: headers['x-request-id'] },
  })
  if (paths === undefined) return
  const issues: { path: string; message: string }[] = body.errors
  expect(issues.map(({ path }) => path)).toEqual(paths)
  for (const { message } of issues) expect(message).toMatch(/^(must|is|cannot|differs|a cap)/)
}

/** All rows of these tables, as text. */
export async function rowsOf(db: Database, tables: string[]): Promise<string> {
  const rows = tables.map(table => db.query({ text: rawSql`select t::text from ${table} t order by 1` }))
  return JSON.stringify(await Promise.all(rows))
}
