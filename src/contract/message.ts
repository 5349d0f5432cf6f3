import Type from 'typebox'
import { closed, patterned } from './schemas.ts'

/** What a sender says of a message that is kept nowhere. */

/** Write-only: neither stored nor logged, and never repeated in an error. */
export const message = Type.Object(
  {
    to: patterned('phoneNumber', {
      writeOnly: true,
      description: 'The destination number in E.164 form, with 7 to 15 digits.',
      examples: ['+4915112345678'],
    }),
    text: Type.String({
      writeOnly: true,
      description:
        'The text of the message: at most 255 segments, which hold 39,015 septets (GSM-7) or 17,085 16-bit units (UCS-2), or 38,760 and 16,830 with `SMS_REFERENCE_BITS=16`. An empty text is one segment.',
      examples: ['Hello'],
    }),
  },
  {
    ...closed,
    writeOnly: true,
    description:
      'Instead of `units` and `country`: the service counts the segments, by its settings `SEGMENTATION`, `SMS_REFERENCE_BITS` and `SMS_SHIFT_TABLES`, and finds the country. Neither stored, logged nor repeated in any response.',
  },
)

/** A value that caps count by itself. */
const counted = (options: object) => patterned('countedValue', { writeOnly: true, ...options })

/** The values that caps count each by itself, beside the country. */
export const named = {
  recipient: Type.Optional(
    counted({
      format: 'text',
      description:
        'Who gets the message, beside `units`: the number in E.164 form, or any text that stands for it. Of a `message` it is `to`. Caps on each recipient count it, a number in its canonical form however it is written; without it, none of them matches. Neither stored, logged nor repeated in any response.',
      examples: ['+4915112345678'],
    }),
  ),
  tag: Type.Optional(
    counted({
      format: 'identifier',
      description:
        'What you sort messages by: a campaign, a sub-account, an IP address. Caps on each tag count it; without it, none of them matches. Neither stored, logged nor repeated in any response.',
      examples: ['campaign-17'],
    }),
  ),
}
