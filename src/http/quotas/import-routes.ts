import { Readable } from 'node:stream'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { createImportSteps } from '../../admin/many/import-plans.ts'
import { createNewUsers, createNewUsersPreview } from '../../admin/many/import-users.ts'
import { ImportQuery } from '../../contract/import.ts'
import { Problem } from '../../errors.ts'
import { sendRecords } from '../changes/many.ts'
import { authorOf } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { isPlainUtf8 } from '../platform/json-body.ts'
import { readLongBody } from '../platform/long-bodies.ts'
import { changeResponses, operation } from '../platform/openapi.ts'
import { linesOf } from '../platform/routes.ts'
import { compileValidator } from '../platform/validation.ts'
import { usersOfReferences } from '../references/references.ts'
import { importOf } from './import.ts'

const NDJSON = 'application/x-ndjson'

/** The import of quotas. Its scope must be its own, because it replaces the body parser. */
export function importRoute(server: FastifyInstance, { db, now, references, settings, steps }: RouteContext): void {
  server.removeAllContentTypeParsers()
  // The route reads the body itself, as far as the steps have come.
  server.addContentTypeParser(NDJSON, (request, stream, done) => {
    if (isPlainUtf8(request.headers)) done(null, stream)
    else done(notNdjson())
  })
  server.addContentTypeParser('*', (_request, _stream, done) => done(notNdjson()))

  server.withTypeProvider<TypeBoxTypeProvider>().post(
    '/import',
    {
      bodyLimit: Number.MAX_SAFE_INTEGER,
      validatorCompiler: part => (part.httpPart === 'body' ? () => true : compileValidator(part)),
      schema: {
        ...operation(
          'Administrator',
          'importQuotas',
          'Import quotas',
          'Creates and updates quotas from newline-delimited JSON, one quota a line, of any number. A row is refused by itself: the others take effect. The service carries them out in small steps, each a transaction, while it reads; an import that breaks off has done whole steps and can be repeated. Check that the last line of the response is `end`.',
        ),
        querystring: ImportQuery,
        body: linesOf('ImportRow'),
        response: {
          ...changeResponses({}, ['overloaded']),
          200: linesOf('ImportRecord'),
        },
      },
    },
    async (request, reply) => {
      const body: unknown = request.body
      if (!(body instanceof Readable)) throw new Problem('invalid_request', 'The body is empty: send one quota a line.')
      steps.slots.hold(reply)
      const isDryRun = request.query.dry_run === 'true'
      const newUsers = () => (isDryRun ? createNewUsersPreview() : createNewUsers(db))
      const records = importOf(readLongBody(request.raw, body, server.server.timeout), {
        step: createImportSteps(db, isDryRun),
        author: () => authorOf(request, now()),
        usersOf: refs => usersOfReferences(references, refs),
        newUsers: settings.autoUsers ? newUsers() : null,
        pacer: steps.pacer,
        onStopped: error => server.requestLog.stopped(request, 'import', error),
      })
      // What stops the first step is answered like any other call.
      const first = await records.next()
      const all = async function* () {
        try {
          if (first.done !== true) yield first.value
          yield* records
        } catch (error) {
          // The client is gone, and so is the reader of these lines.
          if (body.errored === null) throw error
        }
      }
      return sendRecords(reply, all())
    },
  )
}

function notNdjson(): Problem {
  const detail = `Send the body as Content-Type: ${NDJSON} in UTF-8, without Content-Encoding. CSV and other encodings are for the command sms-quota import.`
  return new Problem('unsupported_media_type', detail)
}
