STILL={n:(lambda d,**k:'') for n in "buckets cliff clocks dial dropout grid shuffle slopes stretch".split()}
