import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useAskers } from '../../queries/increase-requests.ts'
import { texts } from '../../texts/texts.ts'

/** How many users ask for more units; nothing while there are none. */
export default function Askers() {
  const { data } = useAskers()
  if (data === undefined || data.count === 0) return null
  return (
    <Text size="sm" mb="md">
      <Anchor component={Link} href="/requests" inherit>
        {texts.increaseRequests.askers(data.count, data.isMore)}
      </Anchor>
    </Text>
  )
}
