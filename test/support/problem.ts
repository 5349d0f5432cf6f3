import { expect } from 'vitest'
import { ERRORS, type ErrorCode } from '../../src/errors.ts'
import type { Answer } from './service.ts'

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
