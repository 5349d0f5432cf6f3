import { useQuery } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import { useParams } from 'wouter'
import { isNotFound } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { NotFound } from '../../components/not-found.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { TabNav } from '../../components/tab-nav.tsx'
import { uint } from '../../model/url-parameters.ts'
import { destinationOf } from '../../model/webhook.ts'
import { queryOf } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { StatusPanel } from './webhook-status.tsx'

/** A tab of a webhook's page. */
export type WebhookTab = ComponentType<{ webhook: Api['Webhook'] }>

/** The frame of a webhook's page: its title, its status, and tabs. */
export default function WebhookPage({ Content }: { Content: WebhookTab }) {
  const id = uint(useParams().id ?? null)
  return id === null ? <NotFound /> : <Frame key={id} id={id} Content={Content} />
}

function Frame({ id, Content }: { id: number; Content: WebhookTab }) {
  const webhook = useQuery(queryOf('GET /admin/webhooks/{id}', { id }))
  if (isNotFound(webhook.error)) return <NotFound />
  const { page } = texts.webhooks
  const about = webhook.data === undefined ? page.unnamed(id) : <bdi>{destinationOf(webhook.data)}</bdi>
  const base = `/webhooks/${id}`
  const tabs = [
    { label: page.tabs.deliveries, href: base },
    { label: page.tabs.settings, href: `${base}/settings` },
    { label: page.tabs.history, href: `${base}/history` },
  ]
  return (
    <>
      <PageTitle title={webhook.data?.description ?? page.unnamed(id)} about={about} />
      <Loaded query={webhook} loading={<Loading rows={8} height={40} />}>
        {data => (
          <>
            <StatusPanel webhook={data} />
            <TabNav label={page.tabs.label} tabs={tabs} />
            <Content webhook={data} />
          </>
        )}
      </Loaded>
    </>
  )
}
