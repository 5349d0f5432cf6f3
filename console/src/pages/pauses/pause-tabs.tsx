import { TabNav } from '../../components/tab-nav.tsx'
import { texts } from '../../texts/texts.ts'

/** What is paused, the breaker that pauses by itself, and the caps of all new users. */
export function PauseTabs() {
  const { pauses, breaker, caps } = texts.pauses.tabs
  const tabs = [
    { label: pauses, href: '/pauses' },
    { label: breaker, href: '/pauses/breaker' },
    { label: caps, href: '/pauses/caps' },
  ]
  return <TabNav label={texts.shell.pages.pauses} tabs={tabs} />
}
