import { Empty } from '../../parts/empty.tsx'
import { PageTitle } from '../../parts/page-title.tsx'

export default function Webhooks() {
  return (
    <>
      <PageTitle title="Webhooks" />
      <Empty title="This page is still to come." />
    </>
  )
}
