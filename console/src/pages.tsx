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
function framed<Tab>(loadFrame: Load<ComponentType<{ Content: Tab }>>, loadTab: Load<Tab>): Load<ComponentType> {
  return async () => {
    const [{ default: Frame }, { default: Tab }] = await Promise.all([loadFrame(), loadTab()])
    return { default: () => <Frame Content={Tab} /> }
  }
}

type Look = Pick<PageEntry, 'label' | 'icon' | 'shape'>

const page = (path: string, isFor: PageEntry['isFor'], load: Load<ComponentType>, look: Look = {}): PageEntry => ({
  ...{ path, isFor, Page: lazy(load) },
  ...look,
})

/** Start pages: their files come while the token is checked. */
const start: typeof page = (path, isFor, load, look) => ({ ...page(path, isFor, load, look), load })

const labels = texts.shell.pages
const inFrame = {
  plan: () => import('./pages/plans/plan.tsx'),
  user: () => import('./pages/user/user-page.tsx'),
  mine: () => import('./pages/my-quotas/my-quotas-page.tsx'),
  webhook: () => import('./pages/webhooks/webhook.tsx'),
}
const reservations = () => import('./components/user/reservations.tsx')
const denials = () => import('./components/denials/denials.tsx')
const message = () => import('./pages/message/message-page.tsx')
const mine = framed(inFrame.mine, () => import('./pages/my-quotas/overview.tsx'))
const cost = () => import('./pages/cost/cost.tsx')

/** All pages, in the order of the navigation. The first one that a caller may see is the caller's start page. */
export const PAGES: readonly PageEntry[] = [
  start('/overview', readsAllUsers, () => import('./pages/overview/overview.tsx'), {
    ...{ label: labels.overview, icon: 'overview', shape: 'tiles' },
  }),
  page('/start', admins, () => import('./pages/start/start.tsx'), { shape: 'form' }),
  page('/users', readsAllUsers, () => import('./pages/users/users.tsx'), { label: labels.users, icon: 'users' }),
  page(
    '/users/:id',
    readsAllUsers,
    framed(inFrame.user, () => import('./pages/user/overview.tsx')),
    { shape: 'tiles' },
  ),
  page('/users/:id/reservations', readsAllUsers, framed(inFrame.user, reservations)),
  page('/users/:id/denials', readsAllUsers, framed(inFrame.user, denials)),
  page('/users/:id/messages/:message_id', readsAllUsers, message),
  page(
    '/users/:id/transfers',
    readsAllUsers,
    framed(inFrame.user, () => import('./pages/user/transfers.tsx')),
  ),
  page(
    '/users/:id/changes',
    readsAllUsers,
    framed(inFrame.user, () => import('./pages/user/changes.tsx')),
  ),
  page(
    '/users/:id/profile',
    readsAllUsers,
    framed(inFrame.user, () => import('./pages/user/profile.tsx')),
  ),
  page('/requests', readsAllUsers, () => import('./pages/requests/requests.tsx'), {
    ...{ label: labels.requests, icon: 'requests' },
  }),
  page('/messages', readsAllUsers, () => import('./pages/messages/messages.tsx'), {
    ...{ label: labels.messages, icon: 'message' },
  }),
  start('/quotas', readsAllUsers, () => import('./pages/quotas/quotas.tsx'), { label: labels.quotas, icon: 'quotas' }),
  page('/quotas/new', admins, () => import('./pages/quota/new-quota.tsx'), { shape: 'form' }),
  page('/quotas/import', admins, () => import('./pages/quotas/import/import-page.tsx'), { shape: 'form' }),
  page('/quotas/:id', readsAllUsers, () => import('./pages/quota/quota.tsx'), { shape: 'tiles' }),
  page('/plans', readsAllUsers, () => import('./pages/plans/plans.tsx'), { label: labels.plans, icon: 'plans' }),
  page('/plans/new', admins, () => import('./pages/plans/new-plan.tsx'), { shape: 'form' }),
  page(
    '/plans/:id',
    readsAllUsers,
    framed(inFrame.plan, () => import('./pages/plans/overview.tsx')),
  ),
  page(
    '/plans/:id/edit',
    admins,
    framed(inFrame.plan, () => import('./pages/plans/edit.tsx')),
    { shape: 'form' },
  ),
  page(
    '/plans/:id/history',
    readsAllUsers,
    framed(inFrame.plan, () => import('./pages/plans/history.tsx')),
  ),
  page('/prices', readsAllUsers, () => import('./pages/prices/prices.tsx'), { label: labels.prices, icon: 'prices' }),
  page('/prices/:id', readsAllUsers, () => import('./pages/prices/card.tsx')),
  page('/pauses', readsAllUsers, () => import('./pages/pauses/pauses.tsx'), { label: labels.pauses, icon: 'pause' }),
  page('/pauses/breaker', readsAllUsers, () => import('./pages/pauses/breaker.tsx'), { shape: 'form' }),
  page('/pauses/caps', readsAllUsers, () => import('./pages/pauses/caps.tsx')),
  page('/changes', readsAllUsers, () => import('./pages/changes/changes.tsx'), {
    label: labels.changes,
    icon: 'clock',
  }),
  page('/webhooks', readsAllUsers, () => import('./pages/webhooks/webhooks.tsx'), {
    ...{ label: labels.webhooks, icon: 'webhooks' },
  }),
  page('/webhooks/new', admins, () => import('./pages/webhooks/new-webhook.tsx'), { shape: 'form' }),
  page(
    '/webhooks/:id',
    readsAllUsers,
    framed(inFrame.webhook, () => import('./pages/webhooks/deliveries.tsx')),
  ),
  page(
    '/webhooks/:id/settings',
    readsAllUsers,
    framed(inFrame.webhook, () => import('./pages/webhooks/settings.tsx')),
    {
      shape: 'form',
    },
  ),
  page(
    '/webhooks/:id/history',
    readsAllUsers,
    framed(inFrame.webhook, () => import('./pages/webhooks/history.tsx')),
  ),
  page('/mine', customers, mine, { label: labels.mine, icon: 'mine', shape: 'tiles' }),
  page('/mine', staffWithQuotas, mine, { shape: 'tiles' }),
  page('/mine/reservations', users, framed(inFrame.mine, reservations)),
  page('/mine/denials', users, framed(inFrame.mine, denials)),
  page('/mine/messages/:message_id', users, async () => ({ default: (await message()).OwnMessage })),
  page('/cost', customers, cost, { label: labels.cost, icon: 'cost', shape: 'form' }),
  page('/cost', readsAllUsers, cost, { shape: 'form' }),
]
