// The initial inputs of the page.
export const example = `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
spec:
  failurePolicy:
    maxRestarts: 3
  replicatedJobs:
  - name: slice
    replicas: 4
    template:
      spec:
        parallelism: 16
        completions: 16
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            terminationGracePeriodSeconds: 30
            containers:
            - name: worker
              image: registry.example.com/train:v1
              resources:
                limits:
                  example.com/accelerator: 4
`;
