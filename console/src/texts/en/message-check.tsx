import type { ReactNode } from 'react'
import type { DenialReason } from '../../../../src/domain/units/reservation.ts'
import { formatUnits } from '../../formats.ts'
import { values } from './values.tsx'

/** “Would this message go?” */
export const messageCheck = {
  title: 'Would this message go?',
  about: 'Nothing is reserved or sent. The text stays in your browser. The number and the tag are kept nowhere.',
  to: 'Phone number or country',
  toAbout: 'Optional. Decides which quotas cover the message. A number is also its recipient.',
  toPlaceholder: '+49 151 12345678 or DE',
  toError: 'Enter a number with + and its country code, or the two letters of a country.',
  unknownCountry: 'This number belongs to no country.',
  sharedCode: (main: string, others: string) =>
    `Not listed in the numbering plan: ${main} for grants. Caps on ${others} count it, too.`,
  by: 'Cost by',
  byText: 'Text',
  byUnits: 'Units',
  text: 'Text',
  units: 'Units',
  textError: 'A message has at most 255 segments. Shorten the text.',
  unitsError: (most: number) => `Enter a whole number from 1 to ${formatUnits(most)}.`,
  type: 'Message type',
  typeAbout: 'Optional, such as otp',
  typeError: 'Up to 64 lower-case letters, digits, _ and -',
  tag: 'Tag',
  tagAbout: 'Optional, such as sales',
  submit: 'Check',
  costs: (units: number, encoding: string | null) =>
    encoding === null
      ? `It costs ${values.units(units)}.`
      : `It costs ${values.units(units)}: ${units === 1 ? 'one segment' : `${formatUnits(units)} segments`} in ${encoding}.`,
  costsWithoutText: (units: number) => `Without a text, it counts as one segment: ${values.units(units)}.`,
  priced: (units: number, price: string) => `It costs ${values.units(units)}: ${price}.`,
  pricedByNumber: 'A rate card prices it by its number: enter one.',
  goes: 'Yes, it would go now.',
  denied: (why: string) => `No: ${why}.`,
  observed: 'Observe mode lets it go all the same.',
  reasons: {
    no_quota: 'no grant covers this message',
    cap_reached: 'a cap has too little room',
    quota_exhausted: 'the grants that cover it have too few units',
    destination_paused: 'its destination is paused',
  } satisfies Record<DenialReason, string>,
  left: (units: number | null) =>
    units === null
      ? 'After it, any number of such units could be sent.'
      : `After it, ${values.units(units)} could still be sent like this.`,
  room: (units: number) => `${values.units(units)} could be sent like this now.`,
  retryAt: (at: ReactNode) => <>It could go from {at}.</>,
  waitingDoesNotHelp: 'Waiting does not help.',
  nothingReserved: 'This was a check: nothing was reserved.',
  quotas: 'What each quota says',
  noQuotas: 'There are no quotas.',
  verdicts: {
    pays: (units: number) => `Pays ${values.units(units)}`,
    counts: (units: number) => `Has room, and counts ${formatUnits(units)}`,
    hasRoom: 'Has room',
    blocks: 'Stops the message: too little room',
    exhausted: 'Covers the message, but has nothing left',
    hasUnits: 'Covers the message, and has units left',
    hasTooFewUnits: 'Covers the message, but has too few units left',
    notNeeded: 'Covers the message, and is not needed',
    suspended: 'Does not count: suspended',
    scheduled: 'Does not count: has not started yet',
    no_value: 'Does not count: counts recipients, countries or tags each by itself, and the message names none',
    follows: (at: ReactNode) => <>Does not count yet: follows the raised cap on {at}</>,
    expired: 'Does not count: expired',
    expiredAt: (at: ReactNode) => <>Does not count: expired on {at}</>,
    otherCountry: (country: string) => `Does not count: does not cover ${country}`,
    needsCountry: 'Does not count: covers certain countries, and the message names none',
    otherType: (type: string) => `Does not count: does not cover the type ${type}`,
    needsType: 'Does not count: covers certain message types, and the message names none',
  },
}
