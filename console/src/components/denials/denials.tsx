import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { messageUrl, type ViewedUser } from '../../model/addresses.ts'
import { DENIALS_STATE, type DenialFilters, FILTERS, isFiltered, NO_FILTERS } from '../../model/denial-filters.ts'
import { denialsQuery } from '../../queries/denials.ts'
import { texts } from '../../texts/texts.ts'
import { KnownFilters } from '../known-filters.tsx'
import { EmptyState } from '../loaded.tsx'
import { PagedList } from '../paged-list.tsx'
import { useUrlState } from '../url-state.ts'
import { DenialDialog } from './denial-dialog.tsx'
import { DenialFilterFields } from './denial-filters.tsx'
import { DenialTable } from './denial-table.tsx'

/** The denials of one user, newest first, with filters; each denial opens its explanation. */
export default function Denials({ user }: { user: ViewedUser }) {
  const [state, change] = useUrlState(DENIALS_STATE)
  const list = useQuery(denialsQuery(user, state))
  // A changed filter starts at the newest.
  const select = (parts: Partial<DenialFilters>) => change({ cursor: null, ...parts })
  return (
    <>
      <DenialFilterFields
        state={state}
        scope={user}
        onChange={select}
        isFiltered={isFiltered(state)}
        onClear={() => select(NO_FILTERS)}
      />
      {state.id !== null && <MessageLife id={state.id} user={user} />}
      <KnownFilters readers={FILTERS}>
        <PagedList
          page={list}
          rows={8}
          isFiltered={isFiltered(state)}
          kept={texts.denials.kept}
          none={<EmptyState title={texts.denials.none}>{texts.denials.noneAbout}</EmptyState>}
        >
          {(denials, isStale) => (
            <DenialTable {...{ denials, user, isStale }} onExplain={denial => change({ denial })} />
          )}
        </PagedList>
      </KnownFilters>
      <DenialDialog scope={user} denialId={state.denial} onClose={() => change({ denial: null })} />
    </>
  )
}

/** Leads from a message id to the life of the message. */
function MessageLife({ id, user }: { id: string; user: ViewedUser }) {
  return (
    <Text size="sm" mb="sm">
      <Anchor component={Link} href={messageUrl(user, id)} inherit>
        {texts.denials.found.life(<bdi>{id}</bdi>)}
      </Anchor>
    </Text>
  )
}
