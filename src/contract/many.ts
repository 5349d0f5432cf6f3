/** Changes of many, in steps: what their calls and the lines of their answers have in common. */
import Type, { type TProperties, type TSchema } from 'typebox'
import { MAX_LISTED_FAILURES } from '../domain/basics/bounds.ts'
import { closed, IdempotencyHeaders } from './schemas.ts'

/** The query of a call that can be tried before. */
export const dryRunQuery = (description: string) =>
  Type.Object({ dry_run: Type.Optional(Type.Enum(['true', 'false'], { default: 'false', description })) }, closed)

export const ManyHeaders = Type.Object({
  'idempotency-key': Type.With(Type.Required(IdempotencyHeaders).properties['idempotency-key'], {
    description:
      'Names the call. If it is repeated with the same key, for at least 24 hours, each quota is changed at most once, and each user gets units at most once: it completes what an earlier call began.',
  }),
})

/** What ends the description of records of which only the first are listed. */
export const FIRST_LISTED = `The first ${MAX_LISTED_FAILURES.toLocaleString('en')} are listed, all are counted.`

/** The first line of a call that has a key. */
export const BEGIN = Type.Object(
  {
    record: Type.Literal('begin'),
    bulk_id: Type.String({
      description:
        'The `request_id` of all changes of this call in histories and in the audit, also if it is repeated.',
    }),
  },
  { description: 'The first line, but for a dry run.' },
)

const problem = {
  code: Type.String({ description: 'A code of the error catalog.' }),
  detail: Type.String({ description: 'What was wrong.' }),
}

/** The records of a stream. The last one is `end`, or `stopped` if the service could not go on. */
export function manyRecords<
  Counts extends TProperties,
  At extends TProperties,
  Failed extends TProperties,
  Others extends TSchema[],
>(
  $id: string,
  parts: {
    counts: Counts
    /** How far it is, beside the counts. */
    at: At
    failed: Failed
    /** What a line of these says. */
    refused: string
    /** What else the lines say. */
    others: [...Others]
    /** How a call that has stopped is completed. */
    again: string
  },
) {
  const { counts, at, failed, refused, others, again } = parts
  return Type.Union(
    [
      ...others,
      Type.Object({ record: Type.Literal('failed'), ...failed, ...problem }, { description: refused }),
      Type.Object(
        { record: Type.Literal('progress'), ...at, ...counts },
        { description: 'How far it is. About once a second.' },
      ),
      Type.Object(
        { record: Type.Literal('stopped'), ...at, ...counts, ...problem },
        { description: `The last line, if the service could not go on. ${again}` },
      ),
      Type.Object({ record: Type.Literal('end'), ...counts }, { description: 'The last line: all were tried.' }),
    ],
    { $id, description: 'A line of the response. Check that the last line is `end`.' },
  )
}
