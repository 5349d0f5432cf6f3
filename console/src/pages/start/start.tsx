import { Anchor, Button, Code, Group, Loader, Stack, Text, TextInput, Title, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, use, useRef, useState } from 'react'
import { Link } from 'wouter'
import { newIdempotencyKey } from '../../api/http.ts'
import type { Api } from '../../api/types.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { fieldErrors, useFocusFirstError } from '../../components/form-errors.ts'
import { Icon } from '../../components/icon.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import { uint } from '../../model/url-parameters.ts'
import { useChange } from '../../queries/calls.ts'
import { firstMessageQuery, newestQuotaQuery } from '../../queries/start.ts'
import { consoleConfig } from '../../session/console-config.ts'
import { texts } from '../../texts/texts.ts'
import classes from './start.module.css'

const words = texts.start

/** For administrators of an empty service: from the first quota to the first message. */
export default function Start() {
  const newest = useQuery(newestQuotaQuery())
  return (
    <>
      <PageTitle title={words.title} about={words.about} />
      <Loaded query={newest} loading={<Loading rows={4} height={120} />}>
        {quota => (quota === null ? <Empty /> : <Begun quota={quota} />)}
      </Loaded>
    </>
  )
}

function Empty() {
  return (
    <ol data-plain className={classes.steps}>
      <Step title={words.quota.title}>
        <QuotaForm />
      </Step>
      <Step title={words.token.title} />
      <Step title={words.send.title} />
      <Step title={words.arrival.title} />
    </ol>
  )
}

function Begun({ quota }: { quota: Api['SmsQuota'] }) {
  const { id, user_id } = quota
  const message = useQuery(firstMessageQuery(user_id))
  const isDone = message.data !== undefined && message.data !== null
  return (
    <>
      <ol data-plain className={classes.steps}>
        <Step title={words.quota.title} isDone>
          {words.quota.exists(
            <Anchor component={Link} href={`/quotas/${id}`} inherit underline="always">
              <bdi>{quotaName(quota)}</bdi>
            </Anchor>,
            user_id,
          )}
        </Step>
        <Step title={words.token.title} isDone={isDone}>
          <TokenCommand />
        </Step>
        <Step title={words.send.title} isDone={isDone}>
          <Text c="dimmed" mb="sm">
            {words.send.about}
          </Text>
          <Command text={curlFor(user_id)} />
        </Step>
        <Step title={words.arrival.title} isDone={isDone}>
          <Arrival user_id={user_id} message={message.data} isWaiting={message.isFetching || message.data === null} />
          <ErrorNotice variant="action" error={message.error} />
          {message.data === null && (
            <Button variant="default" size="xs" mt="sm" onClick={() => message.refetch()}>
              {words.arrival.askAgain}
            </Button>
          )}
        </Step>
      </ol>
      {isDone && <Text mt="xl">{words.next}</Text>}
    </>
  )
}

/** The quota of the first user, by the month. */
function QuotaForm() {
  const form = useRef<HTMLFormElement>(null)
  const [key] = useState(newIdempotencyKey)
  const [user, setUser] = useState('7')
  const [units, setUnits] = useState('1000')
  const create = useChange('POST /admin/quota')
  const errors = fieldErrors(create.error, ['user_id', 'limit'], words.quota.errors)
  useFocusFirstError(form, create.error)

  function submit(event: FormEvent) {
    event.preventDefault()
    const body = { user_id: uint(user) ?? user, limit: uint(units) ?? units, period: 'month' } as const
    create.mutate({ body, idempotencyKey: key })
  }
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Text c="dimmed" mb="sm">
        {words.quota.about}
      </Text>
      <Group gap="sm" align="flex-end">
        <TextInput
          label={words.quota.user}
          inputMode="numeric"
          value={user}
          error={errors.at('user_id')}
          onChange={event => setUser(event.currentTarget.value)}
        />
        <TextInput
          label={words.quota.units}
          inputMode="numeric"
          value={units}
          error={errors.at('limit')}
          onChange={event => setUnits(event.currentTarget.value)}
        />
        <Button type="submit" loading={create.isPending}>
          {words.quota.create}
        </Button>
      </Group>
      <ErrorNotice variant="action" error={errors.rest} />
      <Text c="dimmed" mb="sm">
        {words.quota.byPlan(text => (
          <Anchor component={Link} href="/plans/new?sample=1" inherit underline="always">
            {text}
          </Anchor>
        ))}
      </Text>
    </form>
  )
}

/**
 * The console makes no tokens: a person who reads an administrator's token could make others that outlive it
 * (docs/decisions/tokens.md).
 */
function TokenCommand() {
  const { oidc } = use(consoleConfig())
  return (
    <>
      <Text c="dimmed" mb="sm">
        {oidc === null ? words.token.byCommand : words.token.byProvider}
      </Text>
      {oidc === null ? <Command text={TOKEN_COMMAND} /> : <Command text="TOKEN=…" />}
    </>
  )
}

const TOKEN_COMMAND = 'TOKEN=$(bin/sms-quota token --subject my-sender --role sender --ttl 1h)'

function curlFor(user_id: number): string {
  const body = JSON.stringify({ user_id, id: 'first-message', units: 1 })
  return [
    `curl ${location.origin}/api/sms/sender/quota/consume \\`,
    `  -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n')
}

interface ArrivalProps {
  user_id: number
  message: Api['ReservationRecord'] | null | undefined
  isWaiting: boolean
}

function Arrival({ user_id, message, isWaiting }: ArrivalProps) {
  return (
    <Group role="status" gap="sm" wrap="nowrap">
      {message ? (
        <span>
          {words.arrival.arrived(
            <Anchor
              component={Link}
              href={`/users/${user_id}/messages/${encodeURIComponent(message.id)}`}
              inherit
              underline="always"
            >
              <bdi>{message.id}</bdi>
            </Anchor>,
            message.units,
          )}
        </span>
      ) : (
        <>
          {isWaiting && <Loader size="xs" />}
          <span>{words.arrival.waiting(user_id)}</span>
        </>
      )}
    </Group>
  )
}

/** A command for a shell, to copy. */
function Command({ text }: { text: string }) {
  return (
    <Stack gap="xs">
      <Code block>{text}</Code>
      <CopyButton value={text} />
    </Stack>
  )
}

function Step({ title, isDone = false, children }: { title: string; isDone?: boolean; children?: ReactNode }) {
  return (
    <li className={classes.step} data-done={isDone || undefined}>
      <Title order={2} size="h5">
        {title} {isDone && <VisuallyHidden>{words.done}</VisuallyHidden>}
      </Title>
      {isDone && (
        <span className={classes.check}>
          <Icon name="check" size={16} />
        </span>
      )}
      <Text size="sm" component="div" mt={4}>
        {children}
      </Text>
    </li>
  )
}
