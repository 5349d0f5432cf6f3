import { type DeniedAnswer, whyDenied } from '../../model/answers.ts'
import { texts } from '../../texts/texts.ts'

/** Why messages are denied, as the end of a sentence. @param isOwn for the user whose messages they are */
export function whyText(answer: DeniedAnswer, summary: Parameters<typeof whyDenied>[1], isOwn: boolean): string {
  const { why, cap, usedUp, allowsNone } = texts.user.status
  const found = whyDenied(answer, summary)
  switch (found.reason) {
    case 'closed':
      return allowsNone(cap(found.cap.period, 0, isOwn))
    case 'usedUp':
      return usedUp(found.caps.map(({ period, limit }) => cap(period, limit ?? 0, isOwn)))
    case 'exhausted':
      return why.exhausted
    default:
      return why[found.reason](isOwn)
  }
}
