import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Api } from '../../api/types.ts'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { RateCardLink } from '../../components/rate-card.tsx'
import { Section } from '../../components/section.tsx'
import { Actor, Timestamp } from '../../components/values.tsx'
import type { ViewedUser } from '../../model/addresses.ts'
import { PROFILE_FIELDS, type ProfileField, savedText } from '../../model/profile-form.ts'
import { profileQuery } from '../../queries/profile.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import classes from '../quota/quota.module.css'
import { ProfileDialog } from './profile-dialog.tsx'

const words = texts.users.profile

/** What another system and people call a user, and how messages address the user. */
export default function Profile({ user: { user_id } }: { user: ViewedUser }) {
  const profile = useQuery(profileQuery(user_id))
  const [isOpen, setOpen] = useState(false)
  const [done, setDone] = useState('')
  const canChange = may(useCaller(), 'change')
  return (
    <Section
      title={words.title}
      aside={
        canChange &&
        profile.data !== undefined && (
          <Button size="xs" onClick={() => setOpen(true)}>
            {words.edit}
          </Button>
        )
      }
    >
      <Text size="sm" c="dimmed" mb="sm">
        {words.about}
      </Text>
      <p role="status">{done}</p>
      <Loaded query={profile} loading={<Loading rows={5} height={32} />}>
        {saved => (
          <>
            <dl className={classes.list}>
              {PROFILE_FIELDS.map(field => (
                <div key={field}>
                  <dt>{words.labels[field]}</dt>
                  <dd>
                    <Saved field={field} profile={saved} />
                  </dd>
                </div>
              ))}
              {saved.updated_at !== null && (
                <div>
                  <dt>{words.lastChanged}</dt>
                  <dd>{words.atBy(<Timestamp at={saved.updated_at} />, <Actor subject={saved.updated_by} />)}</dd>
                </div>
              )}
            </dl>
            <ProfileDialog
              saved={saved}
              isOpen={isOpen}
              onClose={() => setOpen(false)}
              onSaved={() => setDone(words.saved)}
            />
          </>
        )}
      </Loaded>
    </Section>
  )
}

function Saved({ field, profile }: { field: ProfileField; profile: Api['UserProfile'] }) {
  if (field === 'rate_card_id')
    return profile.rate_card_id === null ? texts.rates.field.asPlan : <RateCardLink id={profile.rate_card_id} />
  const text = savedText(field, profile)
  return text === null ? words.none : <bdi>{text}</bdi>
}
