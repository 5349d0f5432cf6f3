import { useQuery } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import { useParams } from 'wouter'
import { isNotFound } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { NotFound } from '../../components/not-found.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { TabNav } from '../../components/tab-nav.tsx'
import { Timestamp } from '../../components/values.tsx'
import { uint } from '../../model/url-parameters.ts'
import { queryOf } from '../../queries/calls.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { PlanBadges } from './slots.tsx'

/** A tab of a plan's page. */
export type PlanTab = ComponentType<{ plan: Api['PlanDetail'] }>

const { page } = texts.plans

/** The frame of a plan's page: its name, its version, and tabs. */
export default function PlanPage({ Content }: { Content: PlanTab }) {
  const id = uint(useParams().id ?? null)
  return id === null ? <NotFound /> : <Frame key={id} id={id} Content={Content} />
}

function Frame({ id, Content }: { id: number; Content: PlanTab }) {
  const plan = useQuery(queryOf('GET /admin/plans/{id}', { id }))
  const mayChange = may(useCaller(), 'change')
  if (isNotFound(plan.error)) return <NotFound />
  const base = `/plans/${id}`
  const canEdit = mayChange && plan.data?.archived === false
  const tabs = [
    { label: page.tabs.overview, href: base },
    ...(canEdit ? [{ label: page.tabs.edit, href: `${base}/edit` }] : []),
    { label: page.tabs.history, href: `${base}/history` },
  ]
  return (
    <>
      <PageTitle
        title={plan.data?.name ?? texts.plans.list.columns.plan}
        about={plan.data && <About plan={plan.data} />}
      />
      <Loaded query={plan} loading={<Loading rows={8} height={40} />}>
        {data => (
          <>
            <TabNav label={page.tabs.label} tabs={tabs} />
            <Content plan={data} />
          </>
        )}
      </Loaded>
    </>
  )
}

function About({ plan }: { plan: Api['PlanDetail'] }) {
  return (
    <>
      <PlanBadges plan={plan} />
      {(plan.is_default || plan.archived) && ' · '}
      {page.changed(plan.version, <Timestamp at={plan.updated_at} />)}
    </>
  )
}
