import { type ComponentType, lazy, Suspense } from 'react'
import { PageTitle } from '../../components/page-title.tsx'
import { TabNav } from '../../components/tab-nav.tsx'
import type { ViewedUser } from '../../model/addresses.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'

const AskForMore = lazy(() => import('../../components/increase-requests/ask-for-more.tsx'))

const { mine, tabs: LABELS, sections } = texts.user

const TABS = [
  { label: LABELS.overview, href: '/mine' },
  { label: LABELS.reservations, href: '/mine/reservations' },
  { label: LABELS.denials, href: '/mine/denials' },
]

/** The signed-in user's own page: title, tabs and the content of the current tab. */
export default function MyQuotasPage({ Content }: { Content: ComponentType<{ user: ViewedUser }> }) {
  const { user_id } = useCaller()
  if (user_id === null) throw new Error('the page needs a caller with a user id')
  const user = { user_id, isOwn: true }
  return (
    <>
      <PageTitle title={mine.title} about={mine.about}>
        <Suspense>
          <AskForMore user={user} />
        </Suspense>
      </PageTitle>
      <TabNav label={sections} tabs={TABS} />
      <Content key={user_id} user={user} />
    </>
  )
}
