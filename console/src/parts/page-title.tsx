import { Group, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import classes from './page-title.module.css'

/** Names the page in the browser's tab. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · sms-quota`
  }, [title])
}

/** The one h1 of a page, a line about it, and what can be done with the whole of it. */
export function PageTitle({ title, about, children }: { title: string; about?: ReactNode; children?: ReactNode }) {
  usePageTitle(title)
  return (
    <Group justify="space-between" align="flex-start" gap="sm" mb="lg">
      <div className={classes.words}>
        <Title order={1} size="h3" className={classes.title ?? ''}>
          {title}
        </Title>
        {about !== undefined && (
          <Text size="sm" c="dimmed" mt={2}>
            {about}
          </Text>
        )}
      </div>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </Group>
  )
}
