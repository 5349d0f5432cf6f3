import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import type { FileContent } from '../../../model/import-rows.ts'
import { refetchAfter } from '../../../queries/calls.ts'
import { type ImportLine, importJob } from '../../../queries/jobs.ts'
import { texts } from '../../../texts/texts.ts'
import { Failures, JobView } from '../jobs/job-view.tsx'
import { badRowFailure } from './give-words.ts'

const { importing, jobs } = texts.manyQuotas

type QuotaImportProps = Pick<Extract<FileContent, { about: 'quotas' }>, 'lines' | 'of' | 'failures'>

/** Checks all rows by a dry run of the service, and imports them when the user agrees. */
export function QuotaImport({ lines: rows, of, failures }: QuotaImportProps) {
  const lines = rows.map(({ line, json }): ImportLine => ({ json, place: jobs.line(line) }))
  const [isConfirmed, setConfirmed] = useState(false)
  return (
    <Stack gap="md">
      <Failures failures={failures.map(badRowFailure)} failed={failures.length} />
      {isConfirmed ? (
        <JobView
          key="import"
          job={importJob(lines, { isDryRun: false })}
          total={lines.length}
          reportName="sms-quota-import"
          onEnd={() => void refetchAfter('POST /admin/quota/import')}
        >
          {() => (
            <Button component={Link} href="/quotas">
              {importing.toQuotas}
            </Button>
          )}
        </JobView>
      ) : (
        <JobView
          key="check"
          job={importJob(lines, { isDryRun: true })}
          total={lines.length}
          reportName="sms-quota-import-check"
          isDryRun
        >
          {({ counts: { created = 0, updated = 0 }, failed }) =>
            created + updated === 0 ? (
              failed === 0 && <Text size="sm">{importing.nothing[of]}</Text>
            ) : (
              <Button onClick={() => setConfirmed(true)}>
                {failed + failures.length === 0
                  ? importing.importRows[of](created + updated)
                  : importing.importRest(created + updated)}
              </Button>
            )
          }
        </JobView>
      )}
    </Stack>
  )
}
