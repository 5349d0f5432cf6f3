import { Button, Code, FileButton, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { type DragEvent, lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import { CsvError, parseCsv } from '../../../../../src/domain/basics/csv-rows.ts'
import { textOfFile, unreadableLine } from '../../../../../src/domain/basics/file-text.ts'
import type { ColumnName } from '../../../../../src/domain/quotas/quota-file.ts'
import { UNIT_NAMES, USER_NAMES } from '../../../../../src/domain/quotas/user-file.ts'
import { type Column, DataTable } from '../../../components/data-table.tsx'
import { saveFile } from '../../../components/download.ts'
import { Icon } from '../../../components/icon.tsx'
import { PageTitle } from '../../../components/page-title.tsx'
import { COLUMN_EXAMPLES, COLUMN_NAMES, quotaTemplate } from '../../../model/import-help.ts'
import { type FileContent, isOfUsersAlone, readRows } from '../../../model/import-rows.ts'
import { texts } from '../../../texts/texts.ts'
import { useIsJobRunning } from '../jobs/use-job.ts'
import { GiveUnits } from './give-units.tsx'
import { problemText } from './give-words.ts'
import classes from './import.module.css'
import { QuotaImport } from './quota-import.tsx'

const words = texts.importHelp
const GivePlan = lazy(() => import('./give-plan.tsx'))
const { importing } = texts.manyQuotas

/** The largest file that is read into the page: some 100,000 quotas. */
const MAX_MEGABYTES = 30

/** A file of users who get more units. */
const EXAMPLE = 'customer,company\n1042,Example Ltd'

/** `file` can be read in another encoding. */
type Content = FileContent | { about: 'unreadable'; problem: string; file?: File }

interface ReadFile {
  name: string
  content: Content
}

/** Imports a file of CSV: quotas, or users who get more units. */
export default function ImportPage() {
  const [file, setFile] = useState<ReadFile | null>(null)
  const isRunning = useIsJobRunning()
  return (
    <>
      <PageTitle title={importing.title} about={importing.about}>
        <Button component={Link} href="/quotas" variant="default" size="xs">
          {importing.toQuotas}
        </Button>
      </PageTitle>
      {file === null || 'problem' in file.content ? (
        <FileField
          problem={file && problemOf(file.content)}
          inEncoding={file?.content.about === 'unreadable' ? file.content.file : undefined}
          onFile={setFile}
        />
      ) : (
        <Stack gap="md" maw="64rem">
          <Group gap="sm">
            <Text size="sm">{importing.file(file.name, rowCount(file.content))}</Text>
            <Button variant="subtle" size="compact-sm" disabled={isRunning} onClick={() => setFile(null)}>
              {importing.another}
            </Button>
          </Group>
          {file.content.about === 'quotas' ? <QuotaImport {...file.content} /> : <OfUsers {...file.content} />}
        </Stack>
      )}
    </>
  )
}

type UsersContent = Extract<FileContent, { about: 'users' }>

/** Users get units; those of a list that says nothing else can get a plan. */
function OfUsers(content: Pick<UsersContent, 'users' | 'failures'>) {
  const [what, setWhat] = useState<'units' | 'plan'>('units')
  const other = what === 'units' ? 'plan' : 'units'
  const isRunning = useIsJobRunning()
  return (
    <>
      {isOfUsersAlone(content.users) && (
        <Button variant="light" w="fit-content" disabled={isRunning} onClick={() => setWhat(other)}>
          {words[other]}
        </Button>
      )}
      <Suspense>{what === 'units' ? <GiveUnits {...content} /> : <GivePlan {...content} />}</Suspense>
    </>
  )
}

function rowCount(content: Exclude<Content, { problem: unknown }>): number {
  return content.failures.length + (content.about === 'quotas' ? content.lines.length : content.users.length)
}

/** Why a file cannot be used; null if it can. */
function problemOf(content: Content): string | null {
  if (content.about === 'nothing') return problemText(content.problem)
  return content.about === 'unreadable' ? content.problem : null
}

interface FileFieldProps {
  problem: string | null
  /** A file that is not UTF-8. */
  inEncoding: File | undefined
  onFile: (file: ReadFile) => void
}

/** Encodings in which spreadsheets save files of CSV, apart from UTF-8 and UTF-16. */
const ENCODINGS = [
  'windows-1252',
  'iso-8859-15',
  'macintosh',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'shift_jis',
  'gb18030',
]

/** Takes a file by drop or by choice. */
function FileField({ problem, inEncoding, onFile }: FileFieldProps) {
  const [isOver, setOver] = useState(false)
  const read = async (file: File | null | undefined, encoding?: string) => {
    if (file != null) onFile({ name: file.name, content: await contentOf(file, encoding) })
  }
  function drop(event: DragEvent) {
    event.preventDefault()
    setOver(false)
    void read(event.dataTransfer.files[0])
  }
  return (
    <section
      className={classes.drop}
      aria-label={importing.drop}
      data-over={isOver || undefined}
      onDragOver={event => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="upload" size={32} />
      <Text fw={600}>{importing.drop}</Text>
      <FileButton accept=".csv,.txt,text/csv" onChange={file => void read(file)}>
        {props => <Button {...props}>{importing.choose}</Button>}
      </FileButton>
      <div role="alert">{problem !== null && <Text c="var(--mantine-color-error)">{problem}</Text>}</div>
      {inEncoding !== undefined && (
        <NativeSelect
          label={importing.encoding}
          data={[{ value: '', label: importing.chooseEncoding }, ...ENCODINGS]}
          value=""
          onChange={event => void read(inEncoding, event.currentTarget.value)}
        />
      )}
      <Text size="sm" c="dimmed">
        {words.users(USER_NAMES.join(', '), UNIT_NAMES.join(', '))}
      </Text>
      <Code block ta="start">
        {EXAMPLE}
      </Code>
      <Text size="sm" c="dimmed">
        {words.quotas}
      </Text>
      <Button variant="default" onClick={() => saveFile('sms-quota-template.csv', [quotaTemplate()])}>
        {words.template}
      </Button>
      <details className={classes.help}>
        <summary>{words.columns}</summary>
        <DataTable label={words.columns} columns={HELP_COLUMNS} rows={COLUMN_NAMES} keyOf={name => name} />
      </details>
    </section>
  )
}

const { head, aboutColumns } = words
const HELP_COLUMNS: readonly Column<ColumnName>[] = [
  { label: head.column, cell: name => <Code>{name}</Code> },
  { label: head.example, cell: name => <Code>{COLUMN_EXAMPLES[name]}</Code> },
  { label: head.about, cell: name => aboutColumns[name] },
]

async function contentOf(file: File, encoding: string | undefined): Promise<Content> {
  if (file.size > MAX_MEGABYTES * 1_000_000) return { about: 'unreadable', problem: importing.tooLarge(MAX_MEGABYTES) }
  try {
    const text = textOfFile(new Uint8Array(await file.arrayBuffer()), encoding)
    const unreadable = unreadableLine(text)
    if (unreadable !== null) return { about: 'unreadable', problem: importing.notUtf8(unreadable), file }
    return readRows(parseCsv(text))
  } catch (error) {
    const problem = error instanceof CsvError ? importing.faults[error.fault](error.line) : importing.notRead
    return { about: 'unreadable', problem }
  }
}
