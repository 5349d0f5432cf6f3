import { type ComponentType, lazy } from 'react'
import type { Caller } from './session/session.ts'

/** A page, where it is, and who may see it. Each is loaded when it is first opened. */
export interface PageEntry {
  path: string
  /** What the navigation calls it; without it the page is reached from another. */
  label?: string
  isFor(caller: Caller): boolean
  Page: ComponentType
}

const admins = ({ roles }: Caller) => roles.includes('admin')
const users = ({ user_id }: Caller) => user_id !== null

/** The table of contents, in the order of the navigation. The first page that a caller may see is where they start. */
export const PAGES: readonly PageEntry[] = [
  { path: '/overview', label: 'Overview', isFor: admins, Page: lazy(() => import('./pages/overview/overview.tsx')) },
  { path: '/quotas', label: 'Quotas', isFor: admins, Page: lazy(() => import('./pages/quotas/quotas.tsx')) },
  { path: '/quotas/new', isFor: admins, Page: lazy(() => import('./pages/quota/new-quota.tsx')) },
  { path: '/quotas/:id', isFor: admins, Page: lazy(() => import('./pages/quota/quota.tsx')) },
  { path: '/users/:id', isFor: admins, Page: lazy(() => import('./pages/user/user.tsx')) },
  { path: '/webhooks', label: 'Webhooks', isFor: admins, Page: lazy(() => import('./pages/webhooks/webhooks.tsx')) },
  { path: '/webhooks/new', isFor: admins, Page: lazy(() => import('./pages/webhooks/new-webhook.tsx')) },
  { path: '/webhooks/:id', isFor: admins, Page: lazy(() => import('./pages/webhooks/webhook.tsx')) },
  { path: '/mine', label: 'My quotas', isFor: users, Page: lazy(() => import('./pages/mine/mine.tsx')) },
  { path: '/cost', label: 'Message cost', isFor: users, Page: lazy(() => import('./pages/cost/cost.tsx')) },
]
