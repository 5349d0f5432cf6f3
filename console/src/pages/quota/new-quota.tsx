import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { newIdempotencyKey } from '../../api/http.ts'
import type { Api } from '../../api/types.ts'
import { BlockReason } from '../../components/block-reason.tsx'
import { EarlierRequest } from '../../components/earlier-request.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { useUrlState } from '../../components/url-state.ts'
import { countryName, formatList, LOCAL_ZONE } from '../../formats.ts'
import {
  copiedFormValues,
  createBodyOf,
  type FormValues,
  isBlocking,
  isSame,
  linkedFormValues,
  NEW_QUOTA_STATE,
} from '../../model/quota-form.ts'
import { useChange } from '../../queries/calls.ts'
import { quotaQuery } from '../../queries/quota.ts'
import { texts } from '../../texts/texts.ts'
import { Presets } from './presets.tsx'
import { QuotaForm } from './quota-form.tsx'

const TEXTS = texts.quota.form

/**
 * The form that creates a quota, or a copy of the quota of `?copy=164`. Links fill some fields: `?kind=cap&limit=0` with
 * `user_id=7`, `period=day`, `countries=NG` and `message_types=otp`.
 */
export default function NewQuotaPage() {
  const [state] = useUrlState(NEW_QUOTA_STATE)
  if (state.copy !== null) return <CopyOf key={state.copy} id={state.copy} />
  // Windows of people begin at their own midnight.
  const initial = { ...linkedFormValues(state), time_zone: LOCAL_ZONE }
  return (
    <NewQuota initial={initial} isBlockLink={isBlocking(initial)} about={TEXTS.newAbout} back={backTo(state.user_id)} />
  )
}

/** The page that leads here. */
function backTo(userId: number | null): string {
  return userId === null ? '/quotas' : `/users/${userId}`
}

function CopyOf({ id }: { id: number }) {
  const source = useQuery(quotaQuery(id))
  const link = ({ name, kind }: Pick<Api['SmsQuota'], 'name' | 'kind'>) => (
    <Anchor component={Link} href={`/quotas/${id}`} inherit underline="always">
      <bdi>{quotaName({ id, name, kind })}</bdi>
    </Anchor>
  )
  return (
    <Loaded query={source} loading={<Loading rows={8} height={36} />}>
      {quota => (
        <NewQuota
          initial={copiedFormValues(quota, Date.now())}
          about={TEXTS.copyAbout(link(quota))}
          back={`/quotas/${id}`}
        />
      )}
    </Loaded>
  )
}

interface NewQuotaProps {
  /** The first render decides. */
  initial: FormValues
  /** Whether a link that blocks leads here: then the form has only what matters for a block. The first render decides. */
  isBlockLink?: boolean
  about: ReactNode
  /** Where "Cancel" leads. */
  back: string
}

function NewQuota({ initial, isBlockLink = false, about, back }: NewQuotaProps) {
  const [, navigate] = useLocation()
  const [first] = useState(initial)
  const [values, setValues] = useState(first)
  const [isOnlyBlock] = useState(isBlockLink)
  const [reason, setReason] = useState('')
  const [isTried, setTried] = useState(false)
  const reasonField = useRef<HTMLInputElement>(null)
  const isBlock = isBlocking(values)
  const name = values.name === '' && isBlock ? TEXTS.blockName(blockedMessages(values)) : values.name
  const body = () => createBodyOf({ ...values, name }, reason.trim())
  // One key per form, so that repeated requests create one quota.
  const [key, setKey] = useState(newIdempotencyKey)
  useUnsavedInput(!isSame(values, first) || reason !== '')
  const creation = useChange('POST /admin/quota', ({ id }) => {
    releaseInput()
    navigate(`/quotas/${id}`)
  })

  function submit() {
    if (isBlock && reason.trim() === '') {
      setTried(true)
      reasonField.current?.focus()
    } else creation.mutate({ body: body(), idempotencyKey: key })
  }
  function createAnother() {
    const next = newIdempotencyKey()
    setKey(next)
    creation.mutate({ body: body(), idempotencyKey: next })
  }
  return (
    <>
      <PageTitle
        title={isBlock ? TEXTS.blockTitle(blockedMessages(values), values.user_id) : TEXTS.newTitle}
        about={isBlock ? aboutBlock(values) : about}
      />
      {!isOnlyBlock && <Presets values={values} onChange={setValues} />}
      {isBlock && <BlockReason value={reason} onChange={setReason} isTried={isTried} ref={reasonField} />}
      <QuotaForm
        values={values}
        onChange={setValues}
        original={null}
        error={creation.error}
        isBusy={creation.isPending}
        onSubmit={submit}
        isOnlyBlock={isOnlyBlock}
        submitLabel={isBlock ? TEXTS.block : TEXTS.create}
        onCancel={() => navigate(back)}
        remedy={
          <EarlierRequest
            error={creation.error}
            words={TEXTS}
            href={`/quotas?user_id=${encodeURIComponent(values.user_id)}`}
            onAnother={createAnother}
          />
        }
      />
    </>
  )
}

/** "Nigeria" or "otp messages to Nigeria" */
function blockedMessages({ countries, message_types }: FormValues): string {
  if (message_types.length > 0) return texts.values.messages(countries.length === 0 ? null : countries, message_types)
  return countries.length === 0 ? TEXTS.allOfUser : formatList(countries.map(countryName))
}

function aboutBlock({ countries }: FormValues): string {
  return countries.length === 0 ? TEXTS.blockAbout : `${TEXTS.blockAbout} ${TEXTS.blockOthers}`
}
