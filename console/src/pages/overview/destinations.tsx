import { SegmentedControl } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { isUnusual } from '../../../../src/domain/forecasts/unusual-traffic.ts'
import { Badge } from '../../components/badge.tsx'
import { unitsColumn } from '../../components/columns.tsx'
import classes from '../../components/data-table.module.css'
import type { Column } from '../../components/data-table.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { RowButton } from '../../components/row-button.tsx'
import { Section } from '../../components/section.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { PrincipalName } from '../../components/values.tsx'
import { dialedCountryLabel } from '../../model/countries.ts'
import { denialsUrl, groupFilter } from '../../model/denial-filters.ts'
import { lastDay } from '../../model/time-ranges.ts'
import {
  type Destination,
  type DestinationGroup,
  destinationsOf,
  TRAFFIC_GROUPS,
  type TrafficGroup,
} from '../../model/traffic.ts'
import { matching, oneOf } from '../../model/url-parameters.ts'
import { useBlocksOfDestination, useDestinations, useLastHour } from '../../queries/overview.ts'
import { texts } from '../../texts/texts.ts'
import { FirstRows } from './parts.tsx'
import { deniedColumn } from './user-columns.tsx'

const Senders = lazy(() => import('./senders.tsx'))

/** `who` is the country or the type whose senders are shown, so that a link can lead to them. */
const STATE = { by: oneOf(TRAFFIC_GROUPS, 'country'), who: matching(/^(?:[A-Z]{2}|001)$|^[a-z0-9][a-z0-9_-]{0,63}$/) }

/** Units of the last 24 hours by country, message type or sender, beside the usual day; unusual ones first. */
export function Destinations() {
  const [{ by, who }, change] = useUrlState(STATE)
  const { now, usual } = useDestinations(by)
  const words = texts.overview.destinations
  return (
    <Section
      isFramed
      title={words.titles[by]}
      aside={
        <SegmentedControl
          size="xs"
          aria-label={words.group}
          value={by}
          data={TRAFFIC_GROUPS.map(value => ({ value, label: words.groups[value] }))}
          onChange={value => change({ by: TRAFFIC_GROUPS.find(group => group === value) ?? 'country', who: null })}
        />
      }
    >
      <Loaded query={now} loading={<Loading rows={5} height={36} />}>
        {({ group, sums }) =>
          sums.size === 0 ? (
            <EmptyState title={words.none}>{words.noneAbout}</EmptyState>
          ) : (
            <Rows
              key={group}
              group={group}
              destinations={destinationsOf(sums, usual)}
              isStale={group !== by}
              onWho={key => change({ who: key })}
            />
          )
        }
      </Loaded>
      {by !== 'sender' && (
        <Dialog
          title={who === null ? '' : questionOf(by, who)}
          isOpen={who !== null}
          onClose={() => change({ who: null })}
        >
          {who !== null && (
            <Suspense fallback={<Loading rows={4} height={34} />}>
              <Senders group={by} destination={who} />
            </Suspense>
          )}
        </Dialog>
      )}
    </Section>
  )
}

interface RowsProps {
  group: TrafficGroup
  destinations: readonly Destination[]
  isStale: boolean
  onWho: (key: string) => void
}

function Rows({ group, destinations, isStale, onWho }: RowsProps) {
  const { titles, about } = texts.overview.destinations
  return (
    <>
      <FirstRows
        list={group}
        label={titles[group]}
        columns={columnsOf(group, destinations, onWho)}
        rows={destinations}
        keyOf={({ key }) => key ?? ''}
        isStale={isStale}
      />
      <p className={classes.more}>{about}</p>
    </>
  )
}

/** Feedback is of destinations: its sender may be another than that of the message. */
function verifiedColumn(group: TrafficGroup, destinations: readonly Destination[]): Column<Destination>[] {
  if (group === 'sender' || destinations.every(({ verified }) => verified === 0)) return []
  const { columns, entered } = texts.overview.destinations
  return [
    {
      label: columns.verified,
      kind: 'number',
      cell: ({ messages, verified }) => (messages === 0 ? '–' : entered(messages, verified)),
    },
  ]
}

function columnsOf(
  group: TrafficGroup,
  destinations: readonly Destination[],
  onWho: RowsProps['onWho'],
): Column<Destination>[] {
  const { columns, who } = texts.overview.destinations
  return [
    { label: columns[group], kind: 'name', cell: row => <Name group={group} destination={row} /> },
    unitsColumn(columns.asked, ({ asked }) => asked),
    unitsColumn(columns.usual, ({ usual }) => (usual === null ? null : Math.round(usual)), '–'),
    ...verifiedColumn(group, destinations),
    deniedColumn(
      columns.denied,
      ({ denied }) => denied,
      ({ key }) => denialsUrl({ ...groupFilter(group, key), from: lastDay(new Date()).from }),
    ),
    {
      label: '',
      cell: ({ key }) =>
        key !== null &&
        group !== 'sender' && (
          <RowButton label={questionOf(group, key)} onClick={() => onWho(key)}>
            {who}
          </RowButton>
        ),
    },
  ]
}

function nameOf(group: TrafficGroup, key: string | null): string {
  if (key === null) return texts.overview.destinations.unnamed[group]
  return group === 'country' ? dialedCountryLabel(key) : key
}

/** "Who sends to Germany (DE)?" */
function questionOf(group: DestinationGroup, key: string): string {
  const { whoSends, whoSendsType } = texts.overview.destinations
  return (group === 'country' ? whoSends : whoSendsType)(nameOf(group, key))
}

interface UnusualProps {
  group: TrafficGroup
  destination: Destination & { usual: number }
}

/** "New: 340 in the last hour" */
function Unusual({ group, destination: { key, asked, usual } }: UnusualProps) {
  const { data } = useLastHour(group)
  const { times, isNew, isNewBefore, lastHour } = texts.overview.destinations
  const hour = data?.get(key) ?? { asked: 0, denied: 0 }
  const pace = data === undefined ? null : lastHour(hour.asked, hour.denied)
  if (usual === 0) return pace === null ? isNewBefore : isNew(pace)
  return times(asked / usual, pace)
}

/** For how many users the destination is blocked already: what it sent before is unusual still. */
function BlockedFor({ group, destination }: { group: DestinationGroup; destination: string }) {
  const { data } = useBlocksOfDestination(group, destination)
  if (data === undefined || data.size === 0) return null
  return <div className={classes.about}>{texts.overview.destinations.blockedFor(data.size)}</div>
}

/** Its name, and what is unusual about it. */
function Name({ group, destination }: { group: TrafficGroup; destination: Destination }) {
  const { key, usual } = destination
  return (
    <>
      {group === 'sender' && key !== null ? <PrincipalName subject={key} /> : <bdi>{nameOf(group, key)}</bdi>}
      {usual !== null && isUnusual(destination) && (
        <div>
          <Badge tone="bad">
            <strong>
              <Unusual group={group} destination={{ ...destination, usual }} />
            </strong>
          </Badge>
          {key !== null && group !== 'sender' && <BlockedFor group={group} destination={key} />}
        </div>
      )}
    </>
  )
}
