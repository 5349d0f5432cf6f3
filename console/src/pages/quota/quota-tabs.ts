import { useLocation } from 'wouter'
import type { Tab } from '../../components/tab-nav.tsx'
import { cursor, oneOf } from '../../components/url-state.ts'

const LABELS = { settings: 'Settings', windows: 'Past windows', history: 'History' }
type Name = keyof typeof LABELS

/** URL state of the page of a quota: the tab, and the cursor of its list. */
export const QUOTA_URL_STATE = { view: oneOf(['settings', 'windows', 'history', 'edit'], 'settings'), cursor }

/** Tabs of a quota; the first has no query parameter. */
export function useTabs(names: readonly Name[], current: Name | 'edit'): Tab[] {
  const [location] = useLocation()
  return names.map((name, index) => ({
    label: LABELS[name],
    href: index === 0 ? location : `${location}?view=${name}`,
    isCurrent: name === current,
  }))
}
