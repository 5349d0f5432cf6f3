import { Button, Group, Text } from '@mantine/core'
import type { NamedUser } from '../../model/addresses.ts'
import { receiverOf } from '../../model/transfers.ts'
import { texts } from '../../texts/texts.ts'
import { type FieldProps, TextField } from '../text-field.tsx'
import { UserName } from '../user-link.tsx'

const words = texts.transfers.form

/** Users to choose from; more are found by typing more. */
const MAX_SHOWN = 5

interface ReceiverFieldProps extends Pick<FieldProps<string>, 'value' | 'onChange' | 'error'> {
  /** Those found for the text; undefined until they are. */
  users: readonly NamedUser[] | undefined
  /** The one of these that the text names. */
  named: NamedUser | undefined
}

/** Who gets units: an id or a reference is typed, or a user is chosen from those found by a part of the name. */
export function ReceiverField({ value, onChange, users, named, error }: ReceiverFieldProps) {
  return (
    <div>
      <TextField label={words.to} about={words.toAbout} value={value} onChange={onChange} error={error} required />
      <div role="status">
        {named !== undefined && (
          <Text size="sm" fw={600} mt={6}>
            <UserName user={named} unnamed={texts.shell.account.user(named.user_id)} />
          </Text>
        )}
        {named === undefined && users !== undefined && <NotNamed value={value} isEmpty={users.length === 0} />}
      </div>
      {named === undefined && users !== undefined && users.length > 0 && (
        <Group gap={6} mt={6} role="group" aria-label={words.found}>
          {users.slice(0, MAX_SHOWN).map(user => (
            <Button
              key={user.user_id}
              size="compact-sm"
              variant="default"
              maw="100%"
              h="auto"
              py={4}
              styles={{ label: { whiteSpace: 'normal', textAlign: 'start' } }}
              onClick={() => onChange(String(user.user_id))}
            >
              <UserName user={user} unnamed={texts.shell.account.user(user.user_id)} />
            </Button>
          ))}
        </Group>
      )}
    </div>
  )
}

/** That a typed id is new, or that nothing is found. */
function NotNamed({ value, isEmpty }: { value: string; isEmpty: boolean }) {
  const receiver = receiverOf(value)
  if (receiver !== null && 'user_id' in receiver)
    return (
      <Text size="sm" mt={6}>
        {words.unknown(receiver.user_id)}
      </Text>
    )
  if (!isEmpty) return null
  return (
    <Text size="sm" mt={6}>
      {words.noneFound}
    </Text>
  )
}
