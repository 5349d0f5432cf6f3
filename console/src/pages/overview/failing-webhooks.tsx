import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { Badge } from '../../components/badge.tsx'
import { Section } from '../../components/section.tsx'
import { Timestamp } from '../../components/values.tsx'
import { destinationOf } from '../../model/webhook.ts'
import { useFailingWebhooks } from '../../queries/overview.ts'
import { texts } from '../../texts/texts.ts'
import classes from './overview.module.css'

/** Webhooks whose deliveries fail; nothing while there are none. The page of webhooks shows why they cannot be read. */
export function FailingWebhooks() {
  const { data = [] } = useFailingWebhooks()
  const { webhooks } = texts.overview
  if (data.length === 0) return null
  return (
    <div className={classes.warning}>
      <Section
        isFramed
        title={webhooks.title}
        aside={
          <Anchor component={Link} href="/webhooks" size="sm">
            {webhooks.all}
          </Anchor>
        }
      >
        <ul className={classes.webhooks}>
          {data.map(({ id, description, disabled_reason, failing_since, ...webhook }) => (
            <li key={id}>
              <Anchor component={Link} href={`/webhooks/${id}`} size="sm" fw={600}>
                <bdi>{description ?? destinationOf(webhook)}</bdi>
              </Anchor>
              <Badge tone="bad">
                {disabled_reason === null
                  ? webhooks.since(<Timestamp at={failing_since} />)
                  : webhooks.disabled[disabled_reason]}
              </Badge>
            </li>
          ))}
        </ul>
      </Section>
    </div>
  )
}
