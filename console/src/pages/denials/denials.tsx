import { Denials } from '../../components/denials/denials.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { denialTexts } from '../../texts/denials.ts'

/** The denials of all users. */
export default function AllDenials() {
  return (
    <>
      <PageTitle title={denialTexts.title} about={denialTexts.about} />
      <Denials scope={null} />
    </>
  )
}
