import { Empty } from '../../parts/empty.tsx'
import { PageTitle } from '../../parts/page-title.tsx'

export default function Webhook() {
  return (
    <>
      <PageTitle title="Webhook" />
      <Empty title="This page is still to come." />
    </>
  )
}
