import { type ComponentType, lazy } from 'react'
import type { IconName } from './components/icon.tsx'
import { may, readsAllUsers } from './session/rights.ts'
import type { Caller } from './session/session.ts'

import { texts } from './texts/texts.ts'

/** What a page mostly consists of. */
export type PageShape = 'table' | 'tiles' | 'form'

/** A page of the console, loaded when it is first opened. */
export interface PageEntry {
  path: string
  /** The label in the navigation; pages without one are reached from other pages. */
  label?: string
  /** Beside the label. */
  icon?: IconName
  /** What is shown while the page is loaded; by default a table. */
  shape?: PageShape
  isFor(caller: Caller): boolean
  Page: ComponentType
  /** Loads its file before the page is shown, where that is early enough to be noticed. */
  load?: () => Promise<unknown>
}

/** Those who may create and change quotas and webhooks. */
const admins = (caller: Caller) => may(caller, 'change')
const users = ({ user_id }: Caller) => user_id !== null
/** Those who come for their own quotas alone. */
const customers = (caller: Caller) => users(caller) && !readsAllUsers(caller)
/** Staff who may have quotas of their own. They find the page in the menu of the account. */
const staffWithQuotas = (caller: Caller) => users(caller) && readsAllUsers(caller)

type Load<Component> = () => Promise<{ default: Component }>

/** A tab in the frame of its page. Both are loaded at the same time. */
function framed<Tab>(loadFrame: Load<ComponentType<{ Content: Tab }>>, loadTab: Load<Tab>): ComponentType {
  return lazy(async () => {
    const [{ default: Frame }, { default: Tab }] = await Promise.all([loadFrame(), loadTab()])
    return { default: () => <Frame Content={Tab} /> }
  })
}

/** Start pages: their files come while the token is checked. */
const start = (load: Load<ComponentType>) => ({ load, Page: lazy(load) })

const webhook = () => import('./pages/webhooks/webhook.tsx')
const plan = () => import('./pages/plans/plan.tsx')
const user = () => import('./pages/user/user-page.tsx')
const myQuotas = () => import('./pages/my-quotas/my-quotas-page.tsx')
const userOverview = () => import('./pages/user/overview.tsx')
const ownOverview = () => import('./pages/my-quotas/overview.tsx')
const reservations = () => import('./components/user/reservations.tsx')
const denials = () => import('./components/denials/denials.tsx')
const message = () => import('./pages/message/message-page.tsx')
const changes = () => import('./pages/user/changes.tsx')
const transfers = () => import('./pages/user/transfers.tsx')
const mine = framed(myQuotas, ownOverview)
const cost = lazy(() => import('./pages/cost/cost.tsx'))
const profile = () => import('./pages/user/profile.tsx')

/** All pages, in the order of the navigation. The first one that a caller may see is the caller's start page. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/overview',
    label: texts.shell.pages.overview,
    icon: 'overview',
    shape: 'tiles',
    isFor: readsAllUsers,
    ...start(() => import('./pages/overview/overview.tsx')),
  },
  { path: '/start', shape: 'form', isFor: admins, Page: lazy(() => import('./pages/start/start.tsx')) },
  {
    path: '/users',
    label: texts.shell.pages.users,
    icon: 'users',
    isFor: readsAllUsers,
    Page: lazy(() => import('./pages/users/users.tsx')),
  },
  { path: '/users/:id', shape: 'tiles', isFor: readsAllUsers, Page: framed(user, userOverview) },
  { path: '/users/:id/reservations', isFor: readsAllUsers, Page: framed(user, reservations) },
  { path: '/users/:id/denials', isFor: readsAllUsers, Page: framed(user, denials) },
  { path: '/users/:id/messages/:message_id', isFor: readsAllUsers, Page: lazy(message) },
  { path: '/users/:id/transfers', isFor: readsAllUsers, Page: framed(user, transfers) },
  { path: '/users/:id/changes', isFor: readsAllUsers, Page: framed(user, changes) },
  { path: '/users/:id/profile', isFor: readsAllUsers, Page: framed(user, profile) },
  {
    path: '/requests',
    label: texts.shell.pages.requests,
    icon: 'requests',
    isFor: readsAllUsers,
    Page: lazy(() => import('./pages/requests/requests.tsx')),
  },
  {
    path: '/messages',
    label: texts.shell.pages.messages,
    icon: 'message',
    isFor: readsAllUsers,
    Page: lazy(() => import('./pages/messages/messages.tsx')),
  },
  {
    path: '/quotas',
    label: texts.shell.pages.quotas,
    icon: 'quotas',
    isFor: readsAllUsers,
    ...start(() => import('./pages/quotas/quotas.tsx')),
  },
  { path: '/quotas/new', shape: 'form', isFor: admins, Page: lazy(() => import('./pages/quota/new-quota.tsx')) },
  {
    path: '/quotas/import',
    shape: 'form',
    isFor: admins,
    Page: lazy(() => import('./pages/quotas/import/import-page.tsx')),
  },
  { path: '/quotas/:id', shape: 'tiles', isFor: readsAllUsers, Page: lazy(() => import('./pages/quota/quota.tsx')) },
  {
    path: '/plans',
    label: texts.shell.pages.plans,
    icon: 'plans',
    isFor: readsAllUsers,
    Page: lazy(() => import('./pages/plans/plans.tsx')),
  },
  { path: '/plans/new', shape: 'form', isFor: admins, Page: lazy(() => import('./pages/plans/new-plan.tsx')) },
  {
    path: '/plans/:id',
    isFor: readsAllUsers,
    Page: framed(plan, () => import('./pages/plans/overview.tsx')),
  },
  {
    path: '/plans/:id/edit',
    shape: 'form',
    isFor: admins,
    Page: framed(plan, () => import('./pages/plans/edit.tsx')),
  },
  {
    path: '/plans/:id/history',
    isFor: readsAllUsers,
    Page: framed(plan, () => import('./pages/plans/history.tsx')),
  },
  {
    path: '/pauses',
    label: texts.shell.pages.pauses,
    icon: 'pause',
    isFor: readsAllUsers,
    Page: lazy(() => import('./pages/pauses/pauses.tsx')),
  },
  {
    path: '/pauses/breaker',
    shape: 'form',
    isFor: readsAllUsers,
    Page: lazy(() => import('./pages/pauses/breaker.tsx')),
  },
  { path: '/pauses/caps', isFor: readsAllUsers, Page: lazy(() => import('./pages/pauses/caps.tsx')) },
  {
    path: '/changes',
    label: texts.shell.pages.changes,
    icon: 'clock',
    isFor: readsAllUsers,
    Page: lazy(() => import('./pages/changes/changes.tsx')),
  },
  {
    path: '/webhooks',
    label: texts.shell.pages.webhooks,
    icon: 'webhooks',
    isFor: readsAllUsers,
    Page: lazy(() => import('./pages/webhooks/webhooks.tsx')),
  },
  { path: '/webhooks/new', shape: 'form', isFor: admins, Page: lazy(() => import('./pages/webhooks/new-webhook.tsx')) },
  {
    path: '/webhooks/:id',
    isFor: readsAllUsers,
    Page: framed(webhook, () => import('./pages/webhooks/deliveries.tsx')),
  },
  {
    path: '/webhooks/:id/settings',
    shape: 'form',
    isFor: readsAllUsers,
    Page: framed(webhook, () => import('./pages/webhooks/settings.tsx')),
  },
  {
    path: '/webhooks/:id/history',
    isFor: readsAllUsers,
    Page: framed(webhook, () => import('./pages/webhooks/history.tsx')),
  },
  {
    path: '/mine',
    label: texts.shell.pages.mine,
    icon: 'mine',
    shape: 'tiles',
    isFor: customers,
    Page: mine,
  },
  { path: '/mine', shape: 'tiles', isFor: staffWithQuotas, Page: mine },
  { path: '/mine/reservations', isFor: users, Page: framed(myQuotas, reservations) },
  { path: '/mine/denials', isFor: users, Page: framed(myQuotas, denials) },
  {
    path: '/mine/messages/:message_id',
    isFor: users,
    Page: lazy(async () => ({ default: (await message()).OwnMessage })),
  },
  {
    path: '/cost',
    label: texts.shell.pages.cost,
    icon: 'cost',
    shape: 'form',
    isFor: customers,
    Page: cost,
  },
  { path: '/cost', shape: 'form', isFor: readsAllUsers, Page: cost },
]
