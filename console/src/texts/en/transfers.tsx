import type { ReactNode } from 'react'
import { formatUnits } from '../../formats.ts'
import { values } from './values.tsx'

/** Units that users hand on to each other. */
export const transfers = {
  user: (id: number) => `user ${id}`,
  form: {
    to: 'To',
    toAbout: 'The id of a user, ref: and a reference, or the beginning of a name to choose from.',
    found: 'Users found',
    unknown: (id: number) => `Nothing is known of user ${id} yet. The units make this user known: check the id.`,
    noneFound: 'No user is found.',
    units: 'Units',
    unitsAbout: (available: number) =>
      `Up to ${values.units(available)} can go: those of this period that are neither used nor reserved.`,
    reason: 'Reason',
    reasonAbout: 'Shown in the history of both quotas. May stay empty.',
    end: 'End',
    endAbout: (end: string | null, zone: string) =>
      end === null
        ? `Leave empty if the units never end. Times in ${zone}.`
        : `Leave empty: the units end with those that stay, on ${end}. It can be earlier. Times in ${zone}.`,
    result: (units: number, user: ReactNode, left: number) => (
      <>
        {user} gets a grant of {values.units(units)} for the same messages. {formatUnits(left)} stay here.
      </>
    ),
    submit: 'Hand units on',
    done: (units: number, user: string) => `${values.units(units)} handed on to ${user}.`,
    notEnough: (available: number) =>
      available === 0 ? 'Nothing is left that can go.' : `Only ${values.units(available)} can go now.`,
    earlier: 'An earlier attempt of this dialog handed on other units. Close it and look at the transfers of the user.',
    errors: {
      to: 'Enter the id of a user, or ref: and a reference, or choose one of the users found.',
      unknownReference: 'No user has this reference.',
      units: 'Enter a whole number of at least 1.',
      reason: 'Use at most 500 characters.',
      end: 'Enter a time in the future that is not after the end of the units.',
    },
  },

  list: {
    table: 'Transfers',
    about: 'Units that this user has handed on or got.',
    columns: {
      with: 'With',
      units: 'Units',
      grants: 'Grants',
      reason: 'Reason',
      end: 'End',
      made: 'Made',
      action: 'Action',
    },
    to: (user: ReactNode) => <>To {user}</>,
    from: (user: ReactNode) => <>From {user}</>,
    within: 'To another grant of this user',
    erased: 'an erased user',
    grants: (from: ReactNode, to: ReactNode) => (
      <>
        {from} → {to}
      </>
    ),
    erasedGrant: 'erased',
    returned: (units: number) => `${formatUnits(units)} given back`,
    never: 'Never',
    by: (at: ReactNode, actor: ReactNode) => (
      <>
        {at} by {actor}
      </>
    ),
    none: 'No transfers',
    noneAbout: 'Units that were handed on to or by this user appear here.',
  },

  giveBack: {
    /** On the page of the receiver, or of the giver. */
    give: {
      title: 'Give units back',
      submit: 'Give back',
      of: (units: number) => `Give back, of ${values.units(units)}`,
    },
    take: {
      title: 'Take units back',
      submit: 'Take back',
      of: (units: number) => `Take back, of ${values.units(units)}`,
    },
    about: (units: number, from: ReactNode, to: ReactNode) => (
      <>
        {values.units(units)} went from {from} to {to}.
      </>
    ),
    units: 'Units',
    unitsAbout: (unused: number | null) =>
      unused === null
        ? 'Leave empty for all that are unused.'
        : `Leave empty for all that are unused: ${values.units(unused)} now.`,
    result: (from: ReactNode, has: number | null, to: ReactNode, left: number) => (
      <>
        {has === null ? (
          <>The period that they came from is over: {from} gets none to send</>
        ) : (
          <>
            {from} then has {values.units(has)} left
          </>
        )}
        , {to} keeps {formatUnits(left)}.
      </>
    ),
    done: (returned: number, units: number) =>
      `Of ${values.units(units)}, ${formatUnits(returned)} are given back now.`,
    earlier: 'An earlier attempt of this dialog gave back other units. Close it and look at the list.',
  },

  /** Changes of quotas that transfers made. Without a user if none is known. */
  history: {
    gave: (units: number, user: ReactNode) => (
      <>
        {values.units(units)} handed on{user && <> to {user}</>}
      </>
    ),
    got: (units: number, user: ReactNode) => (
      <>
        {values.units(units)} handed on{user && <> by {user}</>}
      </>
    ),
    gaveBack: (units: number, user: ReactNode) => (
      <>
        {values.units(units)} given back{user && <> to {user}</>}
      </>
    ),
    cameBack: (units: number, user: ReactNode) => (
      <>
        {units === 0 ? 'Units of a past period' : values.units(units)} came back{user && <> from {user}</>}
      </>
    ),
  },
}
