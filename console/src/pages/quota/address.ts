import { useLocation } from 'wouter'
import { cursor, oneOf } from '../../parts/url-state.ts'
import type { View } from '../../parts/views.tsx'

const LABELS = { settings: 'Settings', windows: 'Past windows', history: 'History' }
type Name = keyof typeof LABELS

/** What the page of a quota shows: what of it, and from where on the list there goes. */
export const QUOTA_ADDRESS = { view: oneOf(['settings', 'windows', 'history', 'edit'], 'settings'), cursor }

/** What there is to see of a quota; the first is what its bare address shows. */
export function useViews(names: readonly Name[], current: Name | 'edit'): View[] {
  const [location] = useLocation()
  return names.map((name, index) => ({
    label: LABELS[name],
    href: index === 0 ? location : `${location}?view=${name}`,
    isCurrent: name === current,
  }))
}
