import { useQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { Section } from '../../components/section.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { countryName, formatList } from '../../formats.ts'
import { type Breaker, type BreakerInput, BUDGETS, breakerValuesOf } from '../../model/breaker-form.ts'
import { queryOf } from '../../queries/calls.ts'
import { useNamedUsers } from '../../queries/profile.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import classes from './breaker.module.css'
import { BreakerForm } from './breaker-form.tsx'
import { PauseTabs } from './pause-tabs.tsx'
import { Replay } from './replay.tsx'

const words = texts.breaker

/** The breaker: which users it can judge, its settings, and what they would have paused. */
export default function BreakerPage() {
  const breaker = useQuery(queryOf('GET /admin/breaker', {}))
  return (
    <>
      <PageTitle title={words.title} about={words.about} />
      <PauseTabs />
      <Loaded query={breaker} loading={<Loading rows={10} height={40} />}>
        {saved => (
          <div className={classes.page}>
            <Coverage users={saved.users} />
            <Settings saved={saved} />
          </div>
        )}
      </Loaded>
    </>
  )
}

/** The form, or what is saved, and the replay of either. */
function Settings({ saved }: { saved: Breaker }) {
  const [input, setInput] = useState<BreakerInput>({})
  const mayChange = may(useCaller(), 'change')
  return (
    <>
      {mayChange ? <BreakerForm saved={saved} input={input} onInput={setInput} /> : <ReadOnly saved={saved} />}
      <Replay values={{ ...breakerValuesOf(saved), ...input }} />
    </>
  )
}

/** For how many users it can work, and what is missing for the others. */
function Coverage({ users }: Pick<Breaker, 'users'>) {
  const { title, notJudged, counts, none, without, sent, howTo } = words.coverage
  const examples = useNamedUsers(users?.examples.map(({ user_id }) => user_id) ?? [])
  // Users may have begun to send since they were counted.
  if (users === null || users.with_feedback + users.without_feedback === 0)
    return (
      <Section title={title}>
        <p className={classes.note}>{notJudged}</p>
        <p className={classes.note}>{howTo}</p>
      </Section>
    )
  const { with_feedback, without_feedback } = users
  return (
    <Section title={title}>
      <p>{counts(with_feedback, without_feedback)}</p>
      {with_feedback === 0 && <p className={classes.warning}>{none}</p>}
      {examples.length > 0 && (
        <>
          <p>{without}</p>
          <ul className={classes.users}>
            {examples.map((user, index) => (
              <li key={user.user_id}>
                <UserLink user={user} unnamed={texts.shell.account.user(user.user_id)} />,{' '}
                {sent(users.examples[index]?.messages ?? 0)}
              </li>
            ))}
          </ul>
        </>
      )}
      {without_feedback > 0 && <p className={classes.note}>{howTo}</p>}
    </Section>
  )
}

/** The settings, for those who may not change them. */
function ReadOnly({ saved }: { saved: Breaker }) {
  const { mode, message_types, pass_countries, pass_users } = saved
  const { form, modes, aboutModes } = words
  const values = breakerValuesOf(saved)
  return (
    <Section title={form.title}>
      <dl className={classes.facts}>
        <dt>{form.mode}</dt>
        <dd>
          {modes[mode]}. {aboutModes[mode]}
        </dd>
        <dt>{form.types}</dt>
        <dd>
          <bdi>{message_types.join(', ')}</bdi>
        </dd>
        {BUDGETS.map(budget => (
          <Fragment key={budget}>
            <dt>{form.labels[budget]}</dt>
            <dd>{values[budget]}</dd>
          </Fragment>
        ))}
        <dt>{form.countries}</dt>
        <dd>{pass_countries.length === 0 ? form.none : formatList(pass_countries.map(countryName))}</dd>
        <dt>{form.users}</dt>
        <dd>
          <Passing users={pass_users} />
        </dd>
      </dl>
    </Section>
  )
}

/** Enough to recognize them. */
const MAX_SHOWN = 20

function Passing({ users }: { users: readonly number[] }) {
  const shown = useNamedUsers(users.slice(0, MAX_SHOWN))
  const { none, more } = words.form
  if (users.length === 0) return none
  return (
    <>
      {shown.map((user, index) => (
        <Fragment key={user.user_id}>
          {index > 0 && ', '}
          <UserLink user={user} />
        </Fragment>
      ))}
      {users.length > MAX_SHOWN && ` ${more(users.length - MAX_SHOWN)}`}
    </>
  )
}
