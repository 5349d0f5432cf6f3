import { Denials } from '../../components/denials/denials.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { texts } from '../../texts/texts.ts'

/** The denials of all users. */
export default function AllDenials() {
  return (
    <>
      <PageTitle title={texts.denials.title} about={texts.denials.about} />
      <Denials scope={null} />
    </>
  )
}
