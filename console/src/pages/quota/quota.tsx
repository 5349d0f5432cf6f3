import { Anchor, Button, Space, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { isNotFound } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Block } from '../../components/denials/block.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Kind } from '../../components/kind.tsx'
import { EmptyState, Loading } from '../../components/loaded.tsx'
import { NotFound } from '../../components/not-found.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { type QuotaAction, QuotaDialog } from '../../components/quota-dialogs/quota-dialog.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import { TabNav } from '../../components/tab-nav.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { UserLink } from '../../components/user-link.tsx'
import { Actor, Timestamp } from '../../components/values.tsx'
import { isBlock } from '../../model/quota-status.ts'
import { transferableUnits } from '../../model/transfers.ts'
import { uint } from '../../model/url-parameters.ts'
import { pageOf, useChange } from '../../queries/calls.ts'
import { quotaQuery } from '../../queries/quota.ts'
import { adjustsQuotas, changesQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { CurrentWindow, SettingsList } from './current-window.tsx'
import { EditQuota } from './edit-quota.tsx'
import { History, PastWindows, QUOTA_URL_STATE } from './history.tsx'

type Quota = Api['SmsQuota']

const TEXTS = texts.quota.page

/** The page of a quota: usage, settings, history and actions. */
export default function QuotaPage() {
  const id = uint(useParams().id ?? null)
  // The key resets all state when the id changes, including form values.
  return id === null ? <NotFound /> : <QuotaOf key={id} id={id} />
}

function QuotaOf({ id }: { id: number }) {
  const [{ view }, change] = useUrlState(QUOTA_URL_STATE)
  const quota = useQuery(quotaQuery(id))
  const canEdit = changesQuotas(useCaller())
  const isDeleted = isNotFound(quota.error)

  // The edit form stays open even if the quota is changed or deleted.
  if (view === 'edit' && canEdit && quota.data !== undefined)
    return <EditQuota quota={quota.data} onDone={() => change({ view: 'settings' })} />
  if (isDeleted) return <DeletedQuota id={id} />
  if (quota.data !== undefined) return <QuotaDetail quota={quota.data} error={quota.error} />
  return (
    <>
      <PageTitle title={texts.quota.title(id)} />
      {quota.error === null ? (
        <Loading rows={8} height={36} />
      ) : (
        <ErrorNotice variant="load" error={quota.error} onRetry={quota.refetch} />
      )}
    </>
  )
}

/** Tabs of a quota; the first has no query parameter. */
function Tabs({ names, current }: { names: readonly (keyof typeof TEXTS.tabs)[]; current: string }) {
  const [location] = useLocation()
  const tabs = names.map((name, index) => ({
    label: TEXTS.tabs[name],
    href: index === 0 ? location : `${location}?view=${name}`,
    isCurrent: name === current,
  }))
  return <TabNav label={TEXTS.sections} tabs={tabs} />
}

interface QuotaDetailProps {
  quota: Quota
  /** The error of the last refetch; null if it succeeded. */
  error: Error | null
}

/** An existing quota: current window, tabs and actions. */
function QuotaDetail({ quota, error }: QuotaDetailProps) {
  const [{ view }] = useUrlState(QUOTA_URL_STATE)
  const [message, setMessage] = useState('')
  const { id, kind, plan } = quota
  const shown = view === 'edit' ? 'settings' : view
  const user = <UserLink user={quota} unnamed={texts.quota.user(quota.user_id)} inherit underline="always" />
  return (
    <>
      <PageTitle
        title={quotaName(quota)}
        about={
          <>
            {TEXTS.about(<Kind kind={kind} />, id, user)}
            {plan !== null && <>, {TEXTS.ofPlan(<PlanLink plan={plan} />, plan.version)}</>}
          </>
        }
      >
        <Actions quota={quota} onDone={setMessage} />
      </PageTitle>
      {error !== null && <ErrorNotice variant="load" error={error} />}
      <CurrentWindow quota={quota} message={message} />
      {isBlock(quota) && (
        <Stack gap={4} mt="md">
          <Block quota={quota} />
        </Stack>
      )}
      <Space h="xl" />
      <Tabs names={['settings', 'windows', 'history']} current={shown} />
      {shown === 'windows' ? (
        <PastWindows id={id} />
      ) : shown === 'history' ? (
        <History id={id} />
      ) : (
        <SettingsList quota={quota} />
      )}
    </>
  )
}

function PlanLink({ plan: { id, name } }: { plan: NonNullable<Quota['plan']> }) {
  return (
    <Anchor component={Link} href={`/plans/${id}`} inherit underline="always">
      <bdi>{name}</bdi>
    </Anchor>
  )
}

interface ActionsProps {
  quota: Quota
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** What the caller may do with a quota. */
function Actions({ quota, onDone }: ActionsProps) {
  const { id, kind, limit, enabled } = quota
  const [open, setOpen] = useState<QuotaAction['name'] | null>(null)
  const resuming = useChange('PUT /admin/quota/{id}', () => onDone(TEXTS.resumed[kind]))
  const caller = useCaller()
  return (
    <>
      {isBlock(quota)
        ? changesQuotas(caller) && (
            <Button size="xs" onClick={() => setOpen('suspend')}>
              {texts.user.status.liftBlock}
            </Button>
          )
        : adjustsQuotas(caller) &&
          limit !== null && (
            <Button size="xs" onClick={() => setOpen('adjust')}>
              {TEXTS.adjust}
            </Button>
          )}
      {changesQuotas(caller) && (
        <>
          <Button component={Link} href={`/quotas/${id}?view=edit`} variant="default" size="xs">
            {TEXTS.edit}
          </Button>
          <Button component={Link} href={`/quotas/new?copy=${id}`} variant="default" size="xs">
            {TEXTS.duplicate}
          </Button>
          {transferableUnits(quota) !== null && (
            <Button variant="default" size="xs" onClick={() => setOpen('transfer')}>
              {texts.dialogTitles.transfer.grant}
            </Button>
          )}
          {enabled ? (
            !isBlock(quota) && (
              <Button variant="default" size="xs" onClick={() => setOpen('suspend')}>
                {TEXTS.suspend}
              </Button>
            )
          ) : (
            <Button
              variant="default"
              size="xs"
              loading={resuming.isPending}
              onClick={() => resuming.mutate({ id, body: { enabled: true } })}
            >
              {TEXTS.resume}
            </Button>
          )}
          <Button variant="outline" color="red" size="xs" onClick={() => setOpen('delete')}>
            {TEXTS.delete}
          </Button>
          {resuming.error !== null && <ErrorNotice variant="action" error={resuming.error} />}
        </>
      )}
      <QuotaDialog
        action={open === null ? null : { name: open, quota }}
        onClose={() => setOpen(null)}
        onDone={onDone}
      />
    </>
  )
}

/** The page of a deleted quota, whose history is kept, or of an id that never existed. */
function DeletedQuota({ id }: { id: number }) {
  const [{ view }] = useUrlState(QUOTA_URL_STATE)
  const shown = view === 'windows' ? 'windows' : 'history'
  const history = useQuery(pageOf('GET /admin/quota/{id}/history', { id, query: { cursor: null } }))
  const last = history.data?.items[0]
  const neverExisted = isNotFound(history.error)
  if (neverExisted)
    return (
      <>
        <PageTitle title={TEXTS.notFound(id)} />
        <EmptyState title={TEXTS.noSuchId}>
          <Anchor component={Link} href="/quotas" underline="always">
            {TEXTS.toList}
          </Anchor>
        </EmptyState>
      </>
    )
  return (
    <>
      <PageTitle
        title={last?.after.name ?? texts.quota.title(id)}
        about={last?.after.kind && <Kind kind={last.after.kind} />}
      />
      {history.error !== null ? (
        <ErrorNotice variant="load" error={history.error} onRetry={history.refetch} />
      ) : last === undefined ? (
        <Loading rows={6} />
      ) : (
        <>
          <EmptyState title={TEXTS.isDeleted}>
            {TEXTS.deletedBy(<Actor subject={last.actor} />, <Timestamp at={last.at} />)}
          </EmptyState>
          <Space h="xl" />
          <Tabs names={['history', 'windows']} current={shown} />
          {shown === 'windows' ? <PastWindows id={id} /> : <History id={id} />}
        </>
      )}
    </>
  )
}
